"""Brief units of work on Postgres, which run on the event loop: SQLAlchemy's async engine over asyncpg.

A unit is a synchronous function, which SQLAlchemy runs in a greenlet that waits while the event loop goes on. Handing a
unit to a thread and back takes longer than the unit itself, which touches a few rows by key. Connections stay open and
are handed from unit to unit: taking one from a pool and giving it back takes as long as a statement.
"""

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
from asyncpg import InternalClientError
from sqlalchemy import Connection, event, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from callwright.service.platform.database import engines
from callwright.service.platform.database.engines import Limits, PassedOverFailure
from callwright.service.platform.database.error_text import hide_values
from callwright.service.platform.database.postgres.event_loop_driver import STATEMENTS_HELD, Connector
from callwright.service.platform.database.postgres.time_limits import LIMIT_S
from callwright.service.platform.database.prepared import driver_of, run_text

T = TypeVar("T")

TRANSACTIONS = 8
"""The most transactions under way at a time; others wait."""
LOOK_UPS = 4
"""The most look-ups under way at a time. They have places of their own, because transactions may wait for locks."""
CLOSE_LIMIT_S = 1.0
"""How long cutting a unit off may take. The server is asked to end its statement, so that its locks are free."""


@dataclass(slots=True)
class _Held:
    """A connection, of SQLAlchemy and of asyncpg, and when a unit used it last."""

    connection: AsyncConnection
    driver: Any
    begin: str
    """The statements that begin a transaction."""
    used_at: float = 0.0


class _NotBegun(Exception):
    """The connection was lost before the transaction began."""

    def __init__(self, why: DBAPIError) -> None:
        super().__init__(str(why))
        self.why = why


class BriefUnits:
    """Runs brief units of work. It belongs to the event loop."""

    def __init__(self, connector: Connector, limits: Limits, limit_s: float = LIMIT_S) -> None:
        self._begin = limits.begin()
        self._connector = connector
        self._engine: AsyncEngine = create_async_engine(
            "postgresql+asyncpg://",
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",  # transactions are begun here
            hide_parameters=True,
            connect_args={"async_creator_fn": connector},
        )
        event.listen(self._engine.sync_engine, "do_connect", self._choose_cache)
        hide_values(self._engine.sync_engine)
        self._free: deque[_Held] = deque()
        """Connections that no unit uses."""
        self._lost_at = 0.0
        self._limit_s = limit_s
        self._under_way: set[anyio.CancelScope] = set()
        self._transactions = anyio.Semaphore(TRANSACTIONS, fast_acquire=True)
        self._look_ups = anyio.Semaphore(LOOK_UPS, fast_acquire=True)

    async def each_committed(self, work: Callable[[Connection], T], until: float) -> T:
        """Runs statements that are each committed by themselves.

        Raises:
            TimeoutError: the deadline `until` has passed.
        """
        return await self._run(self._look_ups, lambda connection, _: work(connection), until)

    async def transaction(self, work: Callable[[Connection], T], until: float) -> T:
        """Runs a unit of work and returns once it is committed. If it raises, nothing of it is kept.

        Raises:
            TimeoutError: the deadline `until` has passed. Whether the work was kept is not known.
        """

        def committed(connection: Connection, begin: str) -> T:
            try:
                run_text(connection, begin)
            except DBAPIError as error:
                raise (_NotBegun(error) if error.connection_invalidated else error) from error
            done = work(connection)
            if run_text(connection, "COMMIT").status != "COMMIT":
                raise PassedOverFailure
            return done

        try:
            return await self._run(self._transactions, committed, until)
        except _NotBegun:  # its connection had broken while nobody used it, so nothing was done
            try:
                return await self._run(self._transactions, committed, until)
            except _NotBegun as error:
                raise error.why from error

    def shorten(self, limit_s: float) -> None:
        """From now on no unit may take longer than this, those under way included."""
        self._limit_s = limit_s
        for scope in self._under_way:
            scope.deadline = min(scope.deadline, anyio.current_time() + limit_s)

    async def _run(self, places: anyio.Semaphore, work: Callable[[Connection, str], T], until: float) -> T:
        # A unit that has begun is awaited even if its request is cancelled, as in a thread.
        limit_s = min(until - time.monotonic(), self._limit_s)
        deadline = anyio.current_time() + limit_s
        try:
            places.acquire_nowait()
        except anyio.WouldBlock:
            with anyio.fail_after(limit_s):
                await places.acquire()
        try:
            with anyio.fail_after(deadline - anyio.current_time(), shield=True) as scope:
                self._under_way.add(scope)
                try:
                    return await self._with_connection(work)
                finally:
                    self._under_way.discard(scope)
        finally:
            places.release()

    async def _with_connection(self, work: Callable[[Connection, str], T]) -> T:
        held = await self._taken()
        is_clean = False
        try:
            done = await held.connection.run_sync(_left_clean, work, held.begin)
            is_clean = True
            return done
        except Exception:
            is_clean = True
            raise
        finally:
            if is_clean:
                await self._give_back(held)
            else:
                await _cut_off(held)

    async def _taken(self) -> _Held:
        """The connection that was used most recently, so that surplus ones stay idle.

        It is tested if it may have broken: if it was idle for long, or was last used before another one broke.
        """
        while self._free:
            held = self._free.pop()
            if held.driver.is_closed():
                await _cut_off(held)
                continue
            if time.monotonic() - held.used_at <= engines.IDLE_S and held.used_at > self._lost_at:
                return held
            try:
                await held.connection.run_sync(_left_clean, _nothing, held.begin)
                return held
            except DBAPIError:
                await _cut_off(held)
            except BaseException:  # the unit's time is over
                await _cut_off(held)
                raise
        while True:
            prepares = self._connector.prepares
            connection = await self._engine.connect()
            if self._connector.prepares or not prepares:
                driver = (await connection.get_raw_connection()).driver_connection
                return _Held(connection, driver, "BEGIN" if prepares else self._begin)
            await connection.close()  # it was made to prepare statements, but a pooler was found

    def _choose_cache(self, _: object, __: object, ___: object, given: dict[str, Any]) -> None:
        """Sets the size of SQLAlchemy's own cache of prepared statements, for those that it runs itself."""
        given["prepared_statement_cache_size"] = STATEMENTS_HELD if self._connector.prepares else 0

    async def _give_back(self, held: _Held) -> None:
        held.used_at = time.monotonic()
        if held.connection.invalidated:
            self._lost_at = held.used_at
            await _cut_off(held)
        else:
            self._free.append(held)

    async def close(self) -> None:
        """Closes the connections once no unit uses them."""
        for _ in range(TRANSACTIONS):
            await self._transactions.acquire()
        for _ in range(LOOK_UPS):
            await self._look_ups.acquire()
        async with anyio.create_task_group() as tasks:
            while self._free:
                tasks.start_soon(_cut_off, self._free.pop())
        with anyio.CancelScope(shield=True):
            await self._engine.dispose()


def _nothing(connection: Connection, _: str) -> None:
    connection.execute(select(1))


def _left_clean(connection: Connection, work: Callable[[Connection, str], T], begin: str) -> T:
    """Returns the unit's result. Afterwards its connection is in no transaction, or is not used again."""
    try:
        done = work(connection, begin)
        if connection.in_transaction():
            connection.commit()
        return done
    except InternalClientError as error:  # the server's notice that it ends the connection came in between
        connection.invalidate()
        raise DBAPIError("", None, error, hide_parameters=True, connection_invalidated=True) from error
    except Exception:
        if not connection.invalidated:
            _roll_back(connection)
        raise


async def _cut_off(held: _Held) -> None:
    """Ends a connection and what it runs. The server is told first: behind a pooler it would not notice the end."""
    with anyio.CancelScope(shield=True):
        with suppress(Exception):  # it may be broken in any way; then there is nobody to tell
            await held.driver.close(timeout=CLOSE_LIMIT_S)
        if not held.connection.invalidated:
            await held.connection.invalidate()
        await held.connection.close()


def _roll_back(connection: Connection) -> None:
    try:
        connection.rollback()  # what SQLAlchemy has begun by itself
        if driver_of(connection).is_in_transaction():
            run_text(connection, "ROLLBACK")
    except Exception:
        connection.invalidate()
