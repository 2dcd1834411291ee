"""Units of work on Postgres that do not wait for silent transactions: those that block them are ended."""

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import anyio
from anyio import to_thread
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from callwright.service.platform.database.engines import BEGINS, PREEMPTING_CONNECTIONS, Limits
from callwright.service.platform.database.postgres import idle_transactions
from callwright.service.platform.database.postgres.lock_waits import Locked, is_locked
from callwright.service.platform.database.postgres.time_limits import limited
from callwright.service.platform.database.unavailable import StorageUnavailable

log = logging.getLogger(__name__)
T = TypeVar("T")

IDLE_S = 1.0
"""How long a blocking transaction has to be silent before it is ended."""
WAITS_S = 4.0
"""How long a unit waits for locks in total."""


class Preemption:
    """Runs such units in threads of their own. `read` runs a brief unit at the same time."""

    def __init__(
        self, engine: Engine, limits: Limits, read: Callable[[Callable[[Connection], int]], Awaitable[int]]
    ) -> None:
        waits = replace(limits, try_ms=round(WAITS_S * 1_000))
        self._engine = engine.execution_options(**{BEGINS: waits.begin()})
        self._read = read
        self._threads = anyio.CapacityLimiter(PREEMPTING_CONNECTIONS)

    async def run(self, work: Callable[[Connection], T], until: float) -> T:
        """Runs a unit and returns once it is committed.

        Raises:
            Locked: a transaction that is not silent blocked it for too long.
        """
        waiting: list[int] = []

        def run() -> T:
            with self._engine.connect() as connection, connection.begin():
                waiting.append(connection.execute(idle_transactions.OWN_PID).scalar_one())
                return work(connection)

        done: list[T] = []
        failed: list[Exception] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._end_blocking_transactions, waiting)
            try:
                with limited(until - time.monotonic()):
                    done.append(await to_thread.run_sync(run, limiter=self._threads))
            except Exception as error:
                failed.append(error)
            tasks.cancel_scope.cancel()
        if not failed:
            return done[0]
        if is_locked(failed[0]):
            raise Locked("could not get a lock in time") from failed[0]
        raise failed[0]

    async def _end_blocking_transactions(self, waiting: list[int]) -> None:
        while True:
            await anyio.sleep(IDLE_S / 2)
            if not waiting:  # it has no connection yet
                continue
            try:
                ended = await self._read(
                    lambda connection: idle_transactions.end_blocking_transactions(
                        connection, waiting[0], round(IDLE_S * 1_000)
                    )
                )
            except StorageUnavailable:
                return
            except DBAPIError as error:
                log.warning("silent transactions cannot be ended: %s", type(error.orig).__name__)
                return
            if ended:
                log.warning("a silent transaction was in the way of a stop and was ended")
