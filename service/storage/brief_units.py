"""Brief units of work on Postgres, which run on the event loop: SQLAlchemy's async engine over asyncpg.

A unit is a synchronous function, which SQLAlchemy runs in a greenlet that waits while the event loop goes on. Handing a
unit to a thread and back takes longer than one that touches a few rows by their keys. Connections stay open and are
handed from unit to unit: taking one from a pool and giving it back takes as long as a statement.
"""

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import anyio
from sqlalchemy import Connection, event, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from . import engines
from .engines import Limits, PassedOverFailure
from .error_text import hide_values
from .event_loop_driver import STATEMENTS_HELD, Connector
from .prepared import driver_of, run_text

T = TypeVar("T")

TRANSACTIONS = 8
"""Transactions that are under way at most; others wait."""
LOOK_UPS = 4
"""Look-ups that are under way at most. Transactions may wait for locks, and no request is to wait behind those."""
UNIT_LIMIT_S = 14.0
"""How long a unit may take in all; then it is cut off and its connection is closed."""
CLOSE_LIMIT_S = 1.0
"""How long that may take. The server is asked to end the statement, so that its locks are free."""


class BriefUnits:
    """Runs brief units of work. It belongs to the event loop."""

    def __init__(self, url: str, limits: Limits) -> None:
        self._begin = limits.begin()
        self._connector = Connector(url)
        self._engine: AsyncEngine = create_async_engine(
            "postgresql+asyncpg://",
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",  # transactions are begun here
            hide_parameters=True,
            connect_args={"async_creator_fn": self._connector},
        )
        self._prepares = False
        event.listen(self._engine.sync_engine, "do_connect", self._choose_cache)
        hide_values(self._engine.sync_engine)
        self._free: deque[tuple[float, AsyncConnection]] = deque()
        """Connections that no unit uses, each with when one did last."""
        self._lost_at = 0.0
        self._transactions = anyio.Semaphore(TRANSACTIONS, fast_acquire=True)
        self._look_ups = anyio.Semaphore(LOOK_UPS, fast_acquire=True)

    async def at_once(self, work: Callable[[Connection], T], limit_s: float = UNIT_LIMIT_S) -> T:
        """Runs statements that are each committed as they are run.

        Raises:
            TimeoutError: it took longer than the limit.
        """
        return await self._run(self._look_ups, work, anyio.current_time() + limit_s)

    async def transaction(self, work: Callable[[Connection], T]) -> T:
        """Runs a unit of work and returns once it is committed. If it raises, nothing of it is kept.

        Raises:
            TimeoutError: it took longer than `UNIT_LIMIT_S`. Whether it was kept is not known.
        """

        def committed(connection: Connection) -> T:
            run_text(connection, self._begin)
            done = work(connection)
            if run_text(connection, "COMMIT").status != "COMMIT":
                raise PassedOverFailure
            return done

        return await self._run(self._transactions, committed, anyio.current_time() + UNIT_LIMIT_S)

    async def _run(self, places: anyio.Semaphore, work: Callable[[Connection], T], deadline: float) -> T:
        try:
            places.acquire_nowait()
        except anyio.WouldBlock:
            with anyio.fail_after(deadline - anyio.current_time()):
                await places.acquire()
        try:
            return await self._with_connection(work, deadline)
        finally:
            places.release()

    async def _with_connection(self, work: Callable[[Connection], T], deadline: float) -> T:
        connection: AsyncConnection | None = None
        is_clean = False
        try:
            # What was sent is waited for although its request was cancelled, as it is in a thread.
            with anyio.fail_after(deadline - anyio.current_time(), shield=True):
                connection = await self._taken()
                try:
                    done = await connection.run_sync(_left_clean, work)
                except Exception:
                    is_clean = True
                    raise
                is_clean = True
                return done
        finally:
            if connection is not None:
                with anyio.CancelScope(shield=True):
                    await (self._given_back(connection) if is_clean else _cut_off(connection))

    async def _taken(self) -> AsyncConnection:
        """The connection that was used last, so that those beyond need stay idle.

        Those that may have broken since are tried: who was idle for long, or was used last before another one broke.
        """
        while self._free:
            used_at, connection = self._free.pop()
            if time.monotonic() - used_at <= engines.IDLE_S and used_at > self._lost_at:
                return connection
            try:
                await connection.run_sync(_left_clean, _nothing)
                return connection
            except DBAPIError:
                await connection.close()
            except BaseException:  # the unit's time is over
                with anyio.CancelScope(shield=True):
                    await _cut_off(connection)
                raise
        self._prepares = await self._connector.prepares()
        return await self._engine.connect()

    def _choose_cache(self, _: object, __: object, ___: object, given: dict[str, Any]) -> None:
        """SQLAlchemy holds statements prepared too, of those that it runs itself."""
        given["prepared_statement_cache_size"] = STATEMENTS_HELD if self._prepares else 0

    async def _given_back(self, connection: AsyncConnection) -> None:
        if connection.invalidated:
            self._lost_at = time.monotonic()
            await connection.close()
        else:
            self._free.append((time.monotonic(), connection))

    async def close(self) -> None:
        """Closes the connections once no unit uses them."""
        for _ in range(TRANSACTIONS):
            await self._transactions.acquire()
        for _ in range(LOOK_UPS):
            await self._look_ups.acquire()
        with anyio.CancelScope(shield=True):
            while self._free:
                await self._free.pop()[1].close()
            await self._engine.dispose()


def _nothing(connection: Connection) -> None:
    connection.execute(select(1))


def _left_clean(connection: Connection, work: Callable[[Connection], T]) -> T:
    """What the unit gives. Its connection is in no transaction then, or will not be used again."""
    try:
        done = work(connection)
        if connection.in_transaction():
            connection.commit()
        return done
    except Exception:
        if not connection.invalidated:
            _roll_back(connection)
        raise


async def _cut_off(connection: AsyncConnection) -> None:
    """Ends what a connection does. The server is told first: behind a pooler it would not notice the end."""
    raw = (await connection.get_raw_connection()).driver_connection
    with suppress(Exception):  # it may be broken in any way; then there is nobody to tell
        await cast("Any", raw).close(timeout=CLOSE_LIMIT_S)
    await connection.invalidate()
    await connection.close()


def _roll_back(connection: Connection) -> None:
    try:
        connection.rollback()  # what SQLAlchemy has begun by itself
        if driver_of(connection).is_in_transaction():
            run_text(connection, "ROLLBACK")
    except Exception:
        connection.invalidate()
