"""Several processes on one database: what one begins another goes on with. Here two services, on a port each.

On SQLite there is one process, so these tests run on Postgres alone.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from mcp.types import TextResourceContents

from callwright.server.embedded.embedded import ServiceKeys
from callwright.service.app import running
from callwright.service.settings import ServiceSettings
from tests.support.mcp.over_http import INITIALIZE, LIST, OLDER, Era, Served, balanced, open_served, post, serving

ON_POSTGRES = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


@asynccontextmanager
async def two(database_url: str, data: Path, *, keeps_sessions: bool) -> AsyncGenerator[tuple[Served, Served]]:
    async with open_served(database_url, data / "one", workers=False, keeps_sessions=keeps_sessions) as one:
        settings = ServiceSettings(data=data / "two", database_url=database_url)
        async with running(settings, workers=False) as service:
            tenant = replace(one.tenant, service=service)
            async with serving(tenant, keeps_sessions=keeps_sessions) as other:
                yield one, other


async def older(http: httpx.AsyncClient, body: dict[str, Any], session: str | None = None) -> httpx.Response:
    """Sends one request of the older protocol."""
    headers = {**OLDER, "Mcp-Session-Id": session} if session else OLDER
    return await http.post("/mcp", json=body, headers=headers)


@ON_POSTGRES
@pytest.mark.parametrize(("era", "keeps_sessions"), [("auto", True), ("auto", False), ("legacy", False)])
async def test_a_client_whose_every_request_meets_another_process_notices_nothing(
    database_url: str, tmp_path: Path, era: Era, keeps_sessions: bool
) -> None:
    async with two(database_url, tmp_path, keeps_sessions=keeps_sessions) as services:
        async with balanced(*services, era=era) as hand:
            for index in range(4):
                given = {"name": f"Agent {index}", "voice_id": "en-US-ada", "language": "en-US"}
                made = await hand.use("create_agent", **given, system_prompt="Hello.")
                prompt = await hand.client.read_resource(f"callwright://agents/{made['id']}/prompt")
                assert isinstance(prompt.contents[0], TextResourceContents)
                assert "Hello." in prompt.contents[0].text
            assert len((await hand.use("list_agents"))["data"]) == 4
            assert len((await hand.client.list_tools()).tools) > 40


@ON_POSTGRES
async def test_a_session_of_the_older_protocol_is_known_to_its_own_process_alone(
    database_url: str, tmp_path: Path
) -> None:
    async with two(database_url, tmp_path, keeps_sessions=True) as (one, other):
        async with one.raw_client() as first, other.raw_client() as second:
            session = (await older(first, INITIALIZE)).headers["mcp-session-id"]
            assert (await older(first, LIST, session)).status_code == 200
            assert (await older(second, LIST, session)).status_code == 404


@ON_POSTGRES
async def test_every_process_opens_what_another_one_has_sealed(database_url: str, tmp_path: Path) -> None:
    async with two(database_url, tmp_path, keeps_sessions=True) as (one, other):
        secrets = [await ServiceKeys(served.service).sealing_secret() for served in (one, other, one)]
    assert len(secrets[0]) == 32
    assert secrets[0] == secrets[1] == secrets[2]


@ON_POSTGRES
async def test_a_key_that_one_process_revokes_is_refused_by_the_other(database_url: str, tmp_path: Path) -> None:
    async with two(database_url, tmp_path, keeps_sessions=True) as (one, other):
        made = await one.personal_key()
        async with other.raw_client(made.secret) as http:
            assert (await post(http, "tools/list")).status_code == 200
            await one.revoke(made.id)
            assert (await post(http, "tools/list")).status_code == 401
