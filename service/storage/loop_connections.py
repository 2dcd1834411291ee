"""Units of work on Postgres that run on the event loop, each in a greenlet that waits without holding the loop up."""

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import anyio
from psycopg.pq import TransactionStatus
from sqlalchemy import Connection, event, literal, make_url, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool
from sqlalchemy.util import greenlet_spawn

from . import engines
from .error_text import hide_values
from .greenlets import Runner
from .prepared import Prepared, as_raised, wire_of
from .wire import WiredConnection

T = TypeVar("T")

TRANSACTIONS = 8
"""Transactions that are under way at most; others wait."""
LOOK_UPS = 4
"""Look-ups that are under way at most. Transactions may wait for locks, and no request is to wait behind those."""


_NOTHING = Prepared(select(literal(1).label("one")))


class LoopConnections:
    """Connections to Postgres that the event loop itself uses. They stay open, and begin a transaction when told to."""

    def __init__(self, url: str, limits: engines.Limits) -> None:
        self._limits = limits
        self._engine: AsyncEngine = create_async_engine(
            make_url(url),
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            hide_parameters=True,
            connect_args={"async_creator_fn": WiredConnection.connect, **engines.connection_parameters(url)},
        )
        event.listen(self._engine.sync_engine, "before_cursor_execute", _send_unsent)
        hide_values(self._engine.sync_engine)
        self._kept: deque[tuple[float, Connection]] = deque()
        self._runners: list[Runner] = []
        self._transactions = anyio.Semaphore(TRANSACTIONS, fast_acquire=True)
        self._look_ups = anyio.Semaphore(LOOK_UPS, fast_acquire=True)

    async def at_once(self, work: Callable[[Connection], T]) -> T:
        """Runs statements that are each committed as they are run.

        If the connection turns out to be broken, all of them are run again on another one, once.
        """

        def run() -> T:
            try:
                return self._with_one(work)
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
            return self._with_one(work)

        return await self._on_loop(self._look_ups, run)

    async def transaction(self, work: Callable[[Connection], T]) -> T:
        """Runs a unit of work and returns once it is committed. If it raises, nothing of it is kept."""

        def run() -> T:
            return self._with_one(lambda connection: _in_transaction(connection, self._limits, work))

        return await self._on_loop(self._transactions, run)

    async def _on_loop(self, places: anyio.Semaphore, run: Callable[[], T]) -> T:
        await places.acquire()
        runner = self._runners.pop() if self._runners else Runner()
        outcome: list[T] = []
        try:
            with anyio.CancelScope(shield=True):  # a statement that was sent is waited for
                outcome.append(await runner.spawn(run))
            return outcome[0]
        finally:
            self._runners.append(runner)
            places.release()

    def _with_one(self, work: Callable[[Connection], T]) -> T:
        connection = self._taken()
        is_sound = False
        try:
            done = work(connection)
            is_sound = True
            return done
        except Exception as error:
            is_sound = _is_sound(connection)
            if isinstance(error, DBAPIError):
                error.connection_invalidated = error.connection_invalidated or not is_sound
            raise
        finally:
            if is_sound:
                self._kept.append((time.monotonic(), connection))
            else:
                _throw_away(connection)

    def _taken(self) -> Connection:
        """The connection that was used last, so that those beyond need stay idle."""
        while self._kept:
            used_at, connection = self._kept.pop()
            if _is_sound(connection) and (time.monotonic() - used_at <= engines.IDLE_S or _lives(connection)):
                return connection
            _throw_away(connection)
        return self._engine.sync_engine.connect()

    async def close(self) -> None:
        """Closes the connections once no unit uses them."""
        for _ in range(TRANSACTIONS):
            await self._transactions.acquire()
        for _ in range(LOOK_UPS):
            await self._look_ups.acquire()

        def dispose() -> None:
            while self._kept:
                self._kept.pop()[1].close()

        with anyio.CancelScope(shield=True):
            await greenlet_spawn(dispose)
            await self._engine.dispose()


def _in_transaction(connection: Connection, limits: engines.Limits, work: Callable[[Connection], T]) -> T:
    wire_of(connection).begin(limits.settings())
    try:
        done = work(connection)
        with as_raised(connection, "COMMIT"):
            wire_of(connection).commit()
    except Exception:
        if not connection.invalidated:
            with suppress(DBAPIError), as_raised(connection, "ROLLBACK"):
                wire_of(connection).roll_back()
        raise
    return done


def _lives(connection: Connection) -> bool:
    try:
        _NOTHING.first(connection, {})
    except DBAPIError:
        return False
    return True


def _send_unsent(connection: Connection, *_: Any) -> None:
    wire_of(connection).send_unsent()


def _is_sound(connection: Connection) -> bool:
    """Whether the next unit can use the connection: it is open, and in no transaction."""
    if connection.invalidated:
        return False
    wrapped: Any = connection.connection.dbapi_connection
    return wrapped is not None and wrapped.driver_connection.pgconn.transaction_status == TransactionStatus.IDLE


def _throw_away(connection: Connection) -> None:
    connection.invalidate()
    connection.close()
