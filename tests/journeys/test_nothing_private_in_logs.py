"""The whole scenario with every log record of the programs kept: no number, no word of a call, no key is in them."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult
from sqlalchemy import create_engine, text

from callwright.contract.calls.calls import GetTranscript, ListCalls, get_transcript, list_calls
from callwright.server.commands.mcp import new_session
from callwright.server.mcp.app import build
from callwright.server.mcp.session import ServerSession
from callwright.server.settings import read_settings
from callwright.service.platform.data_folder import DataFolder
from tests.journeys.receiver import SETTINGS, receiving
from tests.journeys.scenario import PEOPLE, build_and_run, steer
from tests.journeys.scenario_of_events import tell
from tests.support.processes.programs import text_of

NUMBERS = [f"20255501{ending:02d}" for ending in (0, 1, 2, 3, 4, 9)]
NAMES = ("Maria", "Olga", "Lucia")


class InMemory:
    """Calls tools through a client in this process."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def use(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        result = await self._call(tool, arguments)
        assert not result.is_error, text_of(result)
        return cast("dict[str, Any]", result.structured_content)

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        result = await self._call(tool, arguments)
        assert result.is_error
        return text_of(result)

    async def _call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        return await self._client.call_tool(tool, arguments)


@asynccontextmanager
async def hand(data: Path, **settings: str) -> AsyncGenerator[tuple[InMemory, ServerSession]]:
    given = {f"CALLWRIGHT_{name}": value for name, value in {"PROFILE": "all", **settings}.items()}
    session = new_session(read_settings(given, data=data))
    with anyio.fail_after(180):
        async with Client(build(session.opened), mode="2026-07-28") as client:
            yield InMemory(client), session


async def words_of_calls(session: ServerSession) -> list[str]:
    client = await session.client()
    found = await client.ask(list_calls, ListCalls(per_page=200))
    spoken = [call.id for call in found.data if call.turn_count]
    asked = [await client.ask(get_transcript, GetTranscript(call_uuid=call_id)) for call_id in spoken]
    return [turn.text for transcript in asked for turn in transcript.turns if len(turn.text) > 12]


def written(caplog: pytest.LogCaptureFixture) -> str:
    """All records with everything that any handler could write of them."""
    formatter = logging.Formatter("%(levelname)s %(name)s %(message)s")
    return "\n".join(f"{formatter.format(record)} {record.__dict__}" for record in caplog.records)


async def test_logs_hold_no_number_no_word_and_no_key(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    data = tmp_path / "data"
    with caplog.at_level(logging.DEBUG, logger="callwright"):
        networks = SETTINGS["CALLWRIGHT_WEBHOOK_NETWORKS"]
        async with receiving() as receiver, hand(data, WEBHOOK_NETWORKS=networks) as (first, session):
            built = await build_and_run(first)
            secret = await tell(first, built, receiver)
            said = await words_of_calls(session)
        async with hand(data, SIM_TIME_SCALE="1") as (second, session):
            await steer(second, built)
        async with hand(data) as (third, session):
            await third.use("get_overview")
            broken = create_engine(f"sqlite:///{data / 'callwright.db'}")
            with broken.begin() as connection:
                connection.execute(text("ALTER TABLE audience_rows RENAME COLUMN cells TO cellar"))
            broken.dispose()
            await third.refused(
                "add_audience_rows", audience_id=built.audience_id, rows=[*PEOPLE, {"phone_number": "+442079460958"}]
            )
    logs = written(caplog)
    assert "a request failed" in logs, "the fault was logged, so there was something to leave out"
    assert len(said) > 8
    key = DataFolder(data).key()
    assert key is not None
    private = [*NUMBERS, *NAMES, *said, "2079460958", key, "svc_live_", secret]
    assert [entry for entry in private if entry in logs] == []
