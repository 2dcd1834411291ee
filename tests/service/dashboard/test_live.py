"""Live pages: how often a viewer is asked for their session, and how soon a stream ends without one."""

import logging
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest
from sqlalchemy import Connection, Row
from starlette.requests import Request

from callwright.client.transport import httpx
from callwright.service import accounts
from callwright.service.accounts import sessions
from callwright.service.app import pipeline_of
from callwright.service.dashboard.asking import Refused
from callwright.service.dashboard.live import Board, LiveBoards, pieces_of
from callwright.service.dashboard.session_cookie import cookie_name
from callwright.service.dashboard.visitors import Visitor, Visitors
from callwright.service.platform.database.postgres.reachability import DatabaseUnreachable
from callwright.service.services import Services
from tests.support.clock_set_by_test import MovableClock
from tests.support.dashboard import logged_in, login_code
from tests.support.service import Tenant, open_service
from tests.support.talks import answering

SECONDS = 40


class ReadByOthers(LiveBoards):
    """The board of a campaign that somebody else's page reads."""

    def __init__(self) -> None:
        super().__init__(_never)

    async def now(self, visitor: Visitor, subject: str, running_ms: int) -> Board:
        """A board that does not change."""
        return Board(read_at_ms=running_ms, text="<p>3 of 6 contacts done</p>")


async def _never(visitor: Visitor, subject: str) -> tuple[str, bool]:
    raise AssertionError(subject)


@dataclass
class Seen:
    """What a stream has said, and how often the session was asked."""

    asked_at_ms: list[int]
    pieces: list[str]
    ended_at_ms: int


async def _visitor(tenant: Tenant, services: Services, user_id: str) -> Visitor:
    code = await login_code(tenant, user_id)
    made = await services.database.write(sessions.log_in, services.ids, code, services.clock.now_ms())
    cookie = f"{cookie_name(is_secure=False)}={made.secret}".encode()
    request = Request({"type": "http", "headers": [(b"cookie", cookie)]})
    found = await Visitors(services, pipeline_of(services)).visitor(request)
    assert found is not None
    return found


async def _watched(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, *, ending: str | None = None, ends_at_s: int = 0
) -> Seen:
    """A stream that is watched for 40 seconds, or to its end, with its user's sessions ended somewhere in between."""
    clock = MovableClock(tenant.services.clock.now_ms())
    services, begun_ms = replace(tenant.services, clock=clock), clock.at_ms
    given = (services.ids, tenant.org_id, "ann@example.com", clock.at_ms)
    user_id = await services.database.write(lambda connection: accounts.add_member(connection, *given, role="viewer"))
    visitor = await _visitor(tenant, services, user_id)
    seen = Seen([], [], 0)
    session_of = sessions.session_of

    def counted(connection: Connection, secret: str, now_ms: int) -> Row[tuple[object, ...]] | None:
        seen.asked_at_ms.append(now_ms - begun_ms)
        return session_of(connection, secret, now_ms)

    async def sleep(seconds: float) -> None:
        clock.move(round(seconds * 1_000))
        if ending is not None and clock.at_ms - begun_ms == ends_at_s * 1_000:
            await services.database.write(_end, ending, services, tenant.org_id, user_id)

    monkeypatch.setattr(sessions, "session_of", counted)
    boards = ReadByOthers()
    async for piece in pieces_of(lambda: boards.now(visitor, "dep_1", 0), visitor, services, sleep=sleep):
        seen.pieces.append(piece)
        seen.ended_at_ms = clock.at_ms - begun_ms
        if seen.ended_at_ms >= SECONDS * 1_000:
            break
    return seen


def _end(connection: Connection, ending: str, services: Services, org_id: str, user_id: str) -> None:
    now_ms = services.clock.now_ms()
    if ending == "logged out everywhere":
        sessions.log_out_everywhere(connection, user_id)
    elif ending == "left the organization":
        accounts.leave(connection, services.ids, org_id, user_id, now_ms)
    else:
        accounts.delete_user(connection, services.ids, user_id, now_ms)


@pytest.mark.requirement("DASH-60")
async def test_a_viewer_is_asked_for_the_session_every_fifteen_seconds(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = await _watched(tenant, monkeypatch)
    assert seen.asked_at_ms == list(range(15_000, seen.ended_at_ms + 1, 15_000))
    assert len(seen.asked_at_ms) > 1
    assert sum("contacts done" in piece for piece in seen.pieces) == 1


@pytest.mark.requirement("DASH-60")
@pytest.mark.parametrize("ending", ["logged out everywhere", "left the organization", "deleted"])
@pytest.mark.parametrize("ends_at_s", [1, 14, 16])
async def test_a_stream_ends_within_fifteen_seconds_of_its_session(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, ending: str, ends_at_s: int
) -> None:
    seen = await _watched(tenant, monkeypatch, ending=ending, ends_at_s=ends_at_s)
    assert seen.pieces[-1] == "event: ended\ndata: login\n\n"
    assert 0 <= seen.ended_at_ms - ends_at_s * 1_000 <= 15_000


async def _read_once(tenant: Tenant, error: Exception) -> list[str]:
    """What a stream says whose board cannot be read."""
    owner = await tenant.database.read(accounts.first_owner, tenant.org_id)
    assert owner is not None
    visitor = await _visitor(tenant, tenant.services, owner)

    async def read() -> Board:
        raise error

    return [piece async for piece in pieces_of(read, visitor, tenant.services)]


@pytest.mark.requirement("DASH-91")
@pytest.mark.parametrize("error", [DatabaseUnreachable(), Refused(503, "service_unavailable", "It does not answer.")])
async def test_a_stream_whose_board_cannot_be_read_ends_so_that_it_is_opened_again(
    tenant: Tenant, error: Exception
) -> None:
    assert await _read_once(tenant, error) == ["retry: 2000\n\n"]


@pytest.mark.requirement("DASH-91")
async def test_another_error_of_a_board_is_not_hidden(tenant: Tenant) -> None:
    with pytest.raises(ValueError, match="a mistake"):
        await _read_once(tenant, ValueError("a mistake"))


@pytest.mark.requirement("DASH-91")
async def test_open_streams_end_without_a_traceback_while_the_database_file_is_away(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data, aside = tmp_path / "data", tmp_path / "aside"
    await anyio.Path(data).mkdir()
    async with (
        open_service(f"sqlite:///{data / 'callwright.db'}", data, workers=False) as tenant,
        answering(tenant) as root,
        logged_in(tenant) as visit,
        httpx.AsyncClient(base_url=root, cookies=dict(visit.http.cookies), timeout=30) as http,
    ):
        with anyio.fail_after(30), caplog.at_level(logging.WARNING):
            for path in ("/confirmations/live", "/calls/live/events"):
                said = ""
                async with http.stream("GET", path) as stream:
                    async for piece in stream.aiter_text():
                        said += piece
                        if "event: board" in piece:
                            await anyio.Path(data).rename(aside)
                await anyio.Path(aside).rename(data)
                assert tenant.database.file_guard.look()
                assert "event: ended" not in said
        assert not any(record.exc_info for record in caplog.records)
