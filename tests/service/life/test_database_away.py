"""Postgres is killed under a service that works: it says so, loses nothing, and goes on by itself."""

import logging
import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.platform.database.postgres.brief_units import LOOK_UPS, TRANSACTIONS
from callwright.service.platform.database.postgres.time_limits import LIMIT_S
from callwright.service.tables.migrations.upgrade import upgrade
from tests.service.life.mid_campaign import health, in_mid_campaign, until
from tests.support.campaign_invariants import campaign_records, check_everything
from tests.support.campaigns import people
from tests.support.database.postgres import Server, create_database
from tests.support.http.raw_requests import AsyncClient, Response, raw_client, refused
from tests.support.service import Tenant, open_service

ENDS_S = 15.0
"""How long a service may take to end (docs/backups.md)."""
DURABLE = {"synchronous_commit": "on"}
AGENT = {"voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}


@asynccontextmanager
async def own_server() -> AsyncGenerator[tuple[Server, str]]:
    """A server that can be killed, and a migrated database on it."""
    with tempfile.TemporaryDirectory(prefix="callwright-away-") as folder:
        os.chmod(folder, 0o711)  # Postgres runs as another user there
        server = await to_thread.run_sync(lambda: Server(Path(folder, "server"), settings=DURABLE))
        try:
            url = create_database(server.url, "away")
            await to_thread.run_sync(upgrade, url)
            yield server, url
        finally:
            server.stop()


async def all_ways(http: AsyncClient, name: str) -> list[Response]:
    """One request of each kind at the same time: a look-up, a list, a brief write and one in a thread."""
    found: list[Response] = []

    async def ask(method: str, path: str, body: object | None) -> None:
        found.append(await http.request(method, path, json=body))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, "GET", "/v1/wallet", None)
        tasks.start_soon(ask, "GET", "/v1/agents", None)
        tasks.start_soon(ask, "POST", "/v1/agents", {**AGENT, "name": name})
        tasks.start_soon(ask, "POST", "/v1/audiences", {"name": name, "rows": people(2)})
    return found


async def served(http: AsyncClient, name: str) -> None:
    """Returns once every kind of request is answered well."""
    while True:
        answers = await all_ways(http, name)
        if all(answer.status_code in (200, 201, 409) for answer in answers):
            return
        await anyio.sleep(0.05)


async def at_once(tenant: Tenant, count: int, names: str = "At once") -> None:
    """As many look-ups and brief writes at the same time."""
    async with raw_client(tenant) as http, anyio.create_task_group() as tasks:

        async def ask(index: int) -> None:
            assert (await http.get("/v1/wallet")).status_code == 200
            assert (await http.post("/v1/agents", json={**AGENT, "name": f"{names} {index}"})).status_code == 201

        for index in range(count):
            tasks.start_soon(ask, index)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.usefixtures("engine")
async def test_a_killed_postgres_is_said_in_words_and_everything_goes_on_once_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with own_server() as (server, url), in_mid_campaign(url, tmp_path) as (tenant, deployment_id):
        async with raw_client(tenant) as http:
            reachability = tenant.database.reachability
            for index in range(3):
                await served(http, f"Before {index}")
                caplog.clear()
                await to_thread.run_sync(server.kill)
                for _ in range(5):
                    with anyio.fail_after(LIMIT_S):
                        answers = await all_ways(http, "Meanwhile")
                    for answer in answers:
                        said = refused(answer, 503, "service_unavailable")["message"]
                        assert said == "The database does not answer; try again."
                        assert answer.headers["retry-after"] == "1"
                assert await health(tenant) == (
                    503,
                    {"status": "unavailable", "problems": {"database": "does not answer"}},
                )
                assert reachability.is_away
                texts = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
                assert (0 if index else 1) <= len(texts) <= 4, texts  # not one for each request
                assert all("the database " in text for text in texts), texts
                assert not any("+1415" in record.getMessage() for record in caplog.records)
                await to_thread.run_sync(server.start_again)
                with anyio.fail_after(30):
                    await served(http, f"After {index}")
                    await until(lambda: not reachability.is_away)
            with anyio.fail_after(60):
                await at_once(tenant, 4 * (TRANSACTIONS + LOOK_UPS))
        assert await health(tenant) == (200, {"status": "ok"})
        ended = await tenant.ended(deployment_id)
        assert (ended.status, ended.stats.completed) == ("completed", 30)
        found = await campaign_records(tenant.database, deployment_id)
        assert {dial.times for dial in found.dials} == {1}
        check_everything(found, RetryPolicy(), lines=3)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.usefixtures("engine")
async def test_a_postgres_that_stands_still_holds_up_no_request_and_no_stop(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        own_server() as (server, url),
        open_service(url, tmp_path, workers=True) as tenant,
        raw_client(tenant) as http,
    ):
        database = tenant.database
        for index in range(2):
            await served(http, f"Before {index}")
            database.shorten(2)
            caplog.clear()
            with server.frozen():
                for _ in range(2):
                    with anyio.fail_after(10):
                        answers = await all_ways(http, "Meanwhile")
                    for answer in answers:
                        assert refused(answer, 503, "service_unavailable")["message"].startswith("The database ")
                        assert answer.headers["retry-after"] == "1"
                with anyio.fail_after(10):
                    assert (await health(tenant))[0] == 503
            assert not any(record.exc_info for record in caplog.records), caplog.text
            database.shorten(LIMIT_S)
            with anyio.fail_after(30):
                await served(http, f"After {index}")
                await at_once(tenant, 2 * (TRANSACTIONS + LOOK_UPS), f"At once after {index}")


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.usefixtures("engine")
async def test_a_service_ends_although_its_postgres_stands_still(tmp_path: Path) -> None:
    async with own_server() as (server, url):
        with ExitStack() as still:
            opened = open_service(url, tmp_path, workers=True, checks_ledgers=False)  # the database does not answer
            async with opened as tenant, raw_client(tenant) as http:
                await served(http, "Before")
                still.enter_context(server.frozen())
                began = anyio.current_time()
        assert anyio.current_time() - began < ENDS_S
