"""What is kept of the clock, when two processes look at it at the same moment."""

from collections.abc import Callable
from typing import TypeVar, cast

import anyio
import pytest
from sqlalchemy import Connection, select

from callwright.service.platform.clock.clock import MINUTE, SystemClock
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.units import brief
from callwright.service.tables.clock_record import look
from callwright.service.tables.schema import service_state
from tests.support.clock_set_by_test import Wall

T = TypeVar("T")


class SlowReader:
    """A database whose answer to a reading is on its way until it is let through."""

    def __init__(self, database: Database) -> None:
        self.write = database.write
        self.has_read = anyio.Event()
        self.go_on = anyio.Event()
        self._database = database

    async def read(self, work: Callable[[Connection], T]) -> T:
        """What `work` gives, late."""
        found = await self._database.read(work)
        self.has_read.set()
        await self.go_on.wait()
        return found


async def kept(database: Database) -> str | None:
    """What is written down of the clock."""
    return await database.read(brief(lambda connection: connection.execute(select(service_state.c.value)).scalar()))


@pytest.mark.parametrize("looks_before", [0, 1], ids=["first look", "a later look"])
async def test_a_process_that_was_slow_leaves_what_another_one_wrote_meanwhile(
    looks_before: int, database_url: str
) -> None:
    late, early = Wall(), Wall(2 * MINUTE)
    clock = late.clock()
    written: list[str | None] = []
    with anyio.fail_after(30):
        async with Database.opened(database_url) as database:
            for _ in range(looks_before):
                await look(database, clock)
                late.ahead_ms += MINUTE
            slow = SlowReader(database)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(look, cast(Database, slow), clock)
                await slow.has_read.wait()
                await look(database, SystemClock(wall=early))
                written.append(await kept(database))
                slow.go_on.set()
            assert [await kept(database)] == written
