"""The session: connected late, once, and again after a failure."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Literal, cast

import anyio
import pytest
from mcp import Client

from callwright.client.errors import ServiceTimeout, ServiceUnreachable
from callwright.server.mcp.app import build
from callwright.server.mcp.session import ServerSession, SystemClock
from callwright.tools.runtime.tool_context import Caller
from tests.support.garbage import largest_garbage, uncollected
from tests.support.tools.fakes import FakeCaller, FakeClock, numbered


class Connections:
    """Counts what is opened and closed. `failures` are raised in turn before a connection succeeds."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.opened = self.closed = 0
        self.release = anyio.Event()
        self.release.set()
        self.broken = anyio.Event()

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator[Caller]:
        self.opened += 1
        await self.release.wait()
        if self.failures:
            raise self.failures.pop(0)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._break)
                yield FakeCaller()
        finally:
            self.closed += 1

    async def _break(self) -> None:
        await self.broken.wait()
        self.broken = anyio.Event()
        raise ConnectionResetError("lost")

    def session(self) -> ServerSession:
        return ServerSession(self.connect, ids=numbered(), clock=FakeClock(), base_url=None)


async def test_nothing_is_connected_before_it_is_needed() -> None:
    made = Connections()
    with anyio.fail_after(5):
        async with made.session().opened():
            await anyio.wait_all_tasks_blocked()
    assert (made.opened, made.closed) == (0, 0)


async def test_all_callers_share_one_connection_and_it_is_closed_at_the_end() -> None:
    made = Connections()
    found: list[Caller] = []

    async def ask(session: ServerSession) -> None:
        found.append(await session.client())

    with anyio.fail_after(5):
        async with made.session().opened() as session:
            async with anyio.create_task_group() as tasks:
                for _ in range(5):
                    tasks.start_soon(ask, session)
            assert made.closed == 0
    assert len({id(caller) for caller in found}) == 1
    assert (made.opened, made.closed) == (1, 1)


async def test_beginning_connects_without_waiting() -> None:
    made = Connections()
    made.release = anyio.Event()
    with anyio.fail_after(5):
        async with made.session().opened() as session:
            session.begin()
            await anyio.wait_all_tasks_blocked()
            assert made.opened == 1
            made.release.set()
            await session.client()
    assert made.opened == 1


async def test_a_failure_reaches_the_caller_and_the_next_one_tries_again() -> None:
    made = Connections(ServiceUnreachable("no", request_sent=False, repeatable=True))
    with anyio.fail_after(5):
        async with made.session().opened() as session:
            with pytest.raises(ServiceUnreachable):
                await session.client()
            assert isinstance(await session.client(), FakeCaller)
    assert (made.opened, made.closed) == (2, 1)


async def test_a_connection_that_breaks_is_made_anew() -> None:
    made = Connections()
    with anyio.fail_after(5):
        async with made.session().opened() as session:
            first = await session.client()
            made.broken.set()
            while not made.closed:
                await anyio.lowlevel.checkpoint()
            assert await session.client() is not first
    assert (made.opened, made.closed) == (2, 2)


async def test_a_caller_that_gives_up_does_not_stop_the_connection() -> None:
    made = Connections()
    made.release = anyio.Event()
    with anyio.fail_after(5):
        async with made.session().opened() as session:
            with anyio.move_on_after(0):
                await session.client()
            await anyio.wait_all_tasks_blocked()
            made.release.set()
            await session.client()
    assert made.opened == 1


async def test_a_connection_that_takes_too_long_is_a_timeout_and_may_still_come() -> None:
    made = Connections()
    made.release = anyio.Event()
    slow = ServerSession(made.connect, ids=numbered(), clock=FakeClock(), base_url=None, patience_s=0)
    with anyio.fail_after(5):
        async with slow.opened() as session:
            with pytest.raises(ServiceTimeout):
                await session.client()
            await anyio.wait_all_tasks_blocked()
            made.release.set()
            await anyio.wait_all_tasks_blocked()
            assert isinstance(await session.client(), FakeCaller)
    assert made.opened == 1


async def test_a_closed_session_gives_no_client() -> None:
    made = Connections()
    with anyio.fail_after(5):
        async with made.session().opened() as session:
            await session.client()
        with pytest.raises(RuntimeError, match="closed"):
            await session.client()


async def test_the_system_clock_only_grows() -> None:
    clock = SystemClock()
    before = clock.monotonic()
    await clock.sleep(0)
    assert clock.monotonic() >= before


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_connection_that_fails_leaves_no_message_to_the_garbage_collector(
    era: Literal["legacy", "auto"],
) -> None:
    large = {"extra": ["x"] * 20_000}
    failures = [ServiceUnreachable("nobody is there", request_sent=False, repeatable=True) for _ in range(2)]
    with anyio.fail_after(60):
        async with Client(build(Connections(*failures).session().opened), mode=era) as client:
            await client.call_tool("get_wallet", {})
            with uncollected():
                answer = await client.call_tool("get_wallet", {}, meta=cast("Any", large))
                assert answer.is_error
                assert largest_garbage() < sys.getsizeof(large["extra"])
