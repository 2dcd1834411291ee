"""Running units of work on Postgres, which other processes may use at the same time.

Each is a transaction in a thread. Brief ones run on the event loop (`brief_units.py`).
"""

import logging
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, TypeVar

import anyio
from anyio import to_thread
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from callwright.service.platform.database.engines import BEGINS, POSTGRES_CONNECTIONS, Limits, make_engine
from callwright.service.platform.database.postgres import idle_transactions
from callwright.service.platform.database.postgres.lock_waits import LockWaits
from callwright.service.platform.database.postgres.preemption import Preemption
from callwright.service.platform.database.postgres.reachability import AWAY_ERRORS, Reachability
from callwright.service.platform.database.postgres.thread_units import ThreadUnits
from callwright.service.platform.database.postgres.time_limits import (
    LIMIT_S,
    LOOK_EVERY_S,
    ThreadLimits,
    deadline,
    limited,
)
from callwright.service.platform.database.sqlite.disk_space import DiskSpace
from callwright.service.platform.database.units import Executor, Mark, brief

if TYPE_CHECKING:
    from callwright.service.platform.database.postgres.brief_units import BriefUnits

log = logging.getLogger(__name__)
T = TypeVar("T")

LAST_S = 3.0
"""How long units of work under way may still take when the database is closed."""
CLOSE_LIMIT_S = 30
"""How long closing waits for units of work under way."""
AGAIN_IN_THREADS = 1
"""How many units of work in threads are retried at a time because they could not get a lock."""
AGAIN_ON_LOOP = 2
"""The same for brief units."""
_READ_ONLY = text("SELECT current_setting('transaction_read_only')")


class SharedExecutor(Executor):
    """Runs units of work in threads and on the event loop. `check_open` raises once the database is closed."""

    def __init__(
        self,
        url: str,
        limits: Limits,
        disk_space: DiskSpace,
        reachability: Reachability,
        check_open: Callable[[], None],
    ) -> None:
        self._url, self._limits = url, limits
        self._disk_space, self._reachability, self._check_open = disk_space, reachability, check_open
        self._times = ThreadLimits()
        self._limit_s = LIMIT_S
        self._brief: BriefUnits | None = None
        self._brief_is_chosen = False
        self._choosing = anyio.Lock()
        self._engine = make_engine(url, limits=limits, times=self._times)
        self._each_committed = self._engine.execution_options(isolation_level="AUTOCOMMIT", **{BEGINS: None})
        # Otherwise each statement would see a different state.
        self._reading = self._engine.execution_options(**{BEGINS: limits.begin("REPEATABLE READ")})
        self._preemption = Preemption(self._engine, limits, self._read_briefly)
        self._threads = ThreadUnits(POSTGRES_CONNECTIONS)
        self._thread_waits = LockWaits(AGAIN_IN_THREADS, limits.lock_ms, check_open)
        self._loop_waits = LockWaits(AGAIN_ON_LOOP, limits.lock_ms, check_open)
        self._looking_after = anyio.CancelScope(shield=True)
        self.takes_writes = brief(_takes_writes)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Cuts off units of work that take too long, until the block ends."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._look_after_threads)
            try:
                yield
            finally:
                self.shorten(LAST_S)
                await self._close()

    async def read(self, work: Callable[[Connection], T], mark: Mark) -> T:
        """Runs a unit that sees one consistent state. Statements of a brief one are each committed by themselves."""
        if mark is Mark.BRIEF:
            return await self._read_briefly(work)

        def run() -> T:
            with self._reading.connect() as connection, connection.begin():
                return work(connection)

        with self._explained():
            return await self._threads.run(run, deadline(self._limit_s))

    async def write(self, work: Callable[[Connection], T], mark: Mark) -> T:
        """Runs a unit, and again if it could not get a lock."""
        with self._explained(writes=True):
            until = deadline(self._limit_s)
            if mark is Mark.PREEMPTS:
                return await self._preemption.run(work, until)
            if mark is Mark.BRIEF and (units := await self._brief_units(until)) is not None:
                return await self._loop_waits.run(lambda: units.transaction(work, until))

            def run() -> T:
                with self._engine.begin() as connection:
                    return work(connection)

            return await self._thread_waits.run(lambda: self._threads.run_write(run, until))

    async def end_idle_transactions(self) -> None:
        if await self._read_briefly(
            lambda connection: idle_transactions.end_idle_transactions(connection, self._limits.idle_ms)
        ):
            log.warning("a transaction that was silent for too long was ended")

    def limited(self) -> AbstractContextManager[None]:
        return limited()

    def shorten(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._times.shorten(limit_s)
        if self._brief is not None:
            self._brief.shorten(limit_s)

    async def _read_briefly(self, work: Callable[[Connection], T]) -> T:
        """Runs a brief unit that reads. If its connection is broken, runs it once more on another connection."""
        self._check_open()
        until = deadline(self._limit_s)

        def run() -> T:
            with self._each_committed.connect() as connection:
                return work(connection)

        async def attempt() -> T:
            if (units := await self._brief_units(until)) is not None:
                return await units.each_committed(work, until)
            return await self._threads.run(run, until)

        with self._explained():
            try:
                return await attempt()
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
            return await attempt()

    async def _brief_units(self, until: float) -> "BriefUnits | None":
        """What runs brief units; None if they run in threads (`event_loop_driver.can_follow`)."""
        if self._brief_is_chosen:
            return self._brief
        from callwright.service.platform.database.postgres.brief_units import (
            BriefUnits,  # only here, since that would delay a start on SQLite
        )
        from callwright.service.platform.database.postgres.event_loop_driver import find_connector

        with anyio.fail_after(until - time.monotonic()):
            async with self._choosing:
                if not self._brief_is_chosen:
                    with limited(until - time.monotonic()):
                        connector = await to_thread.run_sync(find_connector, self._url, self._limits, self._times)
                    self._brief = None if connector is None else BriefUnits(connector, self._limits, self._limit_s)
                    self._brief_is_chosen = True
        return self._brief

    @contextmanager
    def _explained(self, *, writes: bool = False) -> Generator[None]:
        """Raises a more specific error in place of an engine's error, if there is one."""
        try:
            yield
        except AWAY_ERRORS as error:
            self._disk_space.check(error)
            self._reachability.check(error)
            raise
        self._reachability.answered(wrote=writes)

    async def _look_after_threads(self) -> None:
        with self._looking_after:
            while True:
                await anyio.sleep(LOOK_EVERY_S)
                self._times.cut_off()

    async def _close(self) -> None:
        with anyio.move_on_after(CLOSE_LIMIT_S, shield=True):
            if self._brief is not None:
                await self._brief.close()
            await self._threads.wait_for_all()
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._engine.dispose)
        self._looking_after.cancel()


def _takes_writes(connection: Connection) -> bool:
    return connection.execute(_READ_ONLY).scalar_one() == "off"
