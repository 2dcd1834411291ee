"""Writes that stand still while a test looks at what else goes on."""

import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio import from_thread
from anyio.abc import TaskGroup
from sqlalchemy import Connection

from callwright.service.campaigns.adding_people import take_rows
from callwright.service.campaigns.spending_cap import SpendingKey
from callwright.service.platform.database.database import Database
from tests.support.service import Tenant
from tests.support.tasks import tasks_within


@asynccontextmanager
async def write_held_open(database: Database, work: Callable[[Connection], object]) -> AsyncGenerator[TaskGroup]:
    """A write that has done its work and is committed when the block ends. Gives the tasks beside it."""
    worked, go_on = anyio.Event(), threading.Event()

    def held(connection: Connection) -> None:
        work(connection)
        from_thread.run_sync(worked.set)
        assert go_on.wait(10)

    async with tasks_within(20) as tasks:
        tasks.start_soon(database.write, held)
        await worked.wait()
        try:
            yield tasks
        finally:
            go_on.set()


@asynccontextmanager
async def rows_being_added(
    tenant: Tenant, audience_id: str, rows: Sequence[dict[str, Any]]
) -> AsyncGenerator[TaskGroup]:
    """Rows that are added to an audience when the block ends. Gives the tasks beside it."""
    services = tenant.services

    def add(connection: Connection) -> None:
        now_ms, nobody = services.clock.now_ms(), SpendingKey(None, None)
        take_rows(connection, services.ids, audience_id, rows, source="json", now_ms=now_ms, by=nobody)

    async with write_held_open(services.database, add) as tasks:
        yield tasks


async def ends_soon(tasks: TaskGroup, work: Callable[[], Awaitable[object]]) -> bool:
    """Begins work beside the test; whether it ends within the half second that is enough if it waits for nothing."""
    ended = anyio.Event()

    async def carry_out() -> None:
        await work()
        ended.set()

    tasks.start_soon(carry_out)
    with anyio.move_on_after(0.5):
        await ended.wait()
    return ended.is_set()
