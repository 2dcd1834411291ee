"""The only place that knows the engine: units of work on SQLite or Postgres.

A unit of work is a plain function `work(conn, ...)` of synchronous SQLAlchemy Core. Reads run in a few threads. Writes
on SQLite go through one writer that commits the units waiting at that moment together, each in a savepoint of its own;
on Postgres each is a transaction in a thread. A unit must be short: on SQLite it delays its neighbours.
"""

import sqlite3
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import anyio
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError, DisconnectionError
from sqlalchemy.pool import QueuePool

P = ParamSpec("P")
T = TypeVar("T")

READERS = 4
"""Threads that read; more only take the interpreter lock from one another."""
POSTGRES_CONNECTIONS = 12
"""Connections for transactions; as many threads read and write."""
LOOK_UPS = 4
"""Connections and threads on Postgres that run single statements, each committed by itself."""
IDLE_S = 5.0
"""A connection to Postgres that nobody used for so long is tried before it is used again."""
GROUP = 64
"""Most units of work that share one commit on SQLite."""
WAITING_WRITES = 2_000
"""Most units of work that wait for the SQLite writer; then writers wait for a place."""
CLOSE_LIMIT_S = 30
"""How long closing waits for the units of work that run."""


class DatabaseClosed(RuntimeError):
    """The database was closed while a unit of work waited for it."""


@dataclass(eq=False)
class _Unit:
    work: Callable[[Connection], Any]
    done: anyio.Event = field(default_factory=anyio.Event)
    result: Any = None
    error: BaseException | None = None


def make_engine(url: str, *, writer: bool = False, begins: bool = True) -> Engine:
    """An engine as both programs need it: WAL, durable commits, foreign keys, writes that lock at once.

    On SQLite, without `begins` whoever uses it begins and ends transactions on the driver.

    Its errors never show the values of a statement: they may be phone numbers, and errors are logged.
    """
    if make_url(url).get_backend_name() == "sqlite":
        engine = create_engine(
            url,
            poolclass=QueuePool,
            pool_size=1 if writer else READERS,
            max_overflow=0,
            hide_parameters=True,
            connect_args={"check_same_thread": False, "timeout": 30},
        )

        def on_connect(connection: Any, _: Any) -> None:
            connection.isolation_level = None  # transactions are begun by the handler below
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "cache_size=-65536"):
                connection.execute(f"PRAGMA {pragma}").close()

        def on_begin(connection: Connection) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writer else "BEGIN")

        event.listen(engine, "connect", on_connect)
        if begins:
            event.listen(engine, "begin", on_begin)
        return engine
    made = create_engine(url, pool_size=POSTGRES_CONNECTIONS + LOOK_UPS, max_overflow=0, hide_parameters=True)
    _try_idle_connections(made)
    return made


def _try_idle_connections(engine: Engine) -> None:
    """Replaces connections that broke while nobody used them. Trying each one at each use takes as long as a query."""

    def on_checkin(_: Any, record: Any) -> None:
        record.info["used_at"] = time.monotonic()

    def on_checkout(connection: Any, record: Any, _: Any) -> None:
        if time.monotonic() - record.info.get("used_at", time.monotonic()) > IDLE_S:
            try:
                connection.execute("SELECT 1")
                connection.rollback()
            except engine.dialect.loaded_dbapi.Error as error:
                raise DisconnectionError("the connection broke while it was idle") from error

    event.listen(engine, "checkin", on_checkin)
    event.listen(engine, "checkout", on_checkout)


def _is_broken(connection: Connection) -> bool:
    if connection.invalidated:
        return True
    driver: Any = connection.connection.dbapi_connection
    return driver is None or bool(driver.closed)


class Database:
    """Runs units of work. Made by `opened`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.is_sqlite = make_url(url).get_backend_name() == "sqlite"
        made = make_engine(url)
        self._writing = make_engine(url, writer=True) if self.is_sqlite else made
        # On Postgres each statement would see a state of its own otherwise; SQLite reads a snapshot anyway.
        self._reading = made if self.is_sqlite else made.execution_options(isolation_level="REPEATABLE READ")
        self._looking_up = make_engine(url, begins=False) if self.is_sqlite else self._reading
        self._look_ups: Connection | None = None
        self._at_once = made.execution_options(isolation_level="AUTOCOMMIT")
        self._kept: deque[Connection] = deque()
        self._look_up_threads = anyio.CapacityLimiter(LOOK_UPS)
        self._readers = READERS if self.is_sqlite else POSTGRES_CONNECTIONS
        self._writers = 1 if self.is_sqlite else POSTGRES_CONNECTIONS
        self._read_threads = anyio.CapacityLimiter(self._readers)
        self._write_threads = anyio.CapacityLimiter(self._writers)
        streams: tuple[MemoryObjectSendStream[_Unit], MemoryObjectReceiveStream[_Unit]] = (
            anyio.create_memory_object_stream[_Unit](WAITING_WRITES)
        )
        self._submit, self._waiting = streams
        self._closed = False
        self._watching: sqlite3.Connection | None = None

    async def read(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit of work that changes nothing; it sees one consistent state."""
        self._check_open()

        def run() -> T:
            with self._reading.connect() as connection, connection.begin():
                return work(connection, *args, **kwargs)

        return await to_thread.run_sync(run, limiter=self._read_threads)

    async def look_up(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit of work that reads a few rows by their keys.

        On SQLite it runs where it is called: handing it to a thread and back takes longer than the reading, which never
        waits for a lock. On Postgres it is as `at_once`.
        """
        if not self.is_sqlite:
            return await self.at_once(work, *args, **kwargs)
        self._check_open()
        if self._look_ups is None:
            self._look_ups = self._looking_up.connect()
        connection = self._look_ups
        # One connection that stays taken, its transactions begun and ended on the driver: leaving that to the pool and
        # to SQLAlchemy takes as long as the look-up itself.
        driver: sqlite3.Connection = cast("Any", connection.connection.dbapi_connection)
        driver.execute("BEGIN").close()
        try:
            return work(connection, *args, **kwargs)
        finally:
            driver.rollback()

    async def at_once(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs statements on Postgres that are each committed as they are run, and each see the state of that moment.

        If the connection turns out to be broken, all of them are run again on another one, once.
        """
        self._check_open()

        def run() -> T:
            try:
                return self._run_at_once(work, *args, **kwargs)
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
            return self._run_at_once(work, *args, **kwargs)

        return await to_thread.run_sync(run, limiter=self._look_up_threads)

    def _run_at_once(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            connection = self._kept.pop()
        except IndexError:
            connection = self._at_once.connect()
        try:
            return work(connection, *args, **kwargs)
        except DBAPIError as error:
            error.connection_invalidated = error.connection_invalidated or _is_broken(connection)
            raise
        finally:
            if _is_broken(connection):
                connection.invalidate()
                connection.close()
            else:
                self._kept.append(connection)

    def generation(self) -> int | None:
        """A number that differs once anybody has committed anything; None on Postgres, which cannot tell cheaply.

        It takes some microseconds, and belongs to the event loop's thread. Source: SQLite, PRAGMA data_version.
        """
        if not self.is_sqlite or self._closed:
            return None
        if self._watching is None:
            self._watching = sqlite3.connect(make_url(self.url).database or "", isolation_level=None)
        return int(self._watching.execute("PRAGMA data_version").fetchone()[0])

    async def write(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit of work and returns once it is committed. If it raises, nothing of it is kept."""
        self._check_open()
        if not self.is_sqlite:

            def run() -> T:
                with self._writing.begin() as connection:
                    return work(connection, *args, **kwargs)

            return await to_thread.run_sync(run, limiter=self._write_threads)
        unit = _Unit(lambda connection: work(connection, *args, **kwargs))
        try:
            await self._submit.send(unit)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise DatabaseClosed("the database is closed") from error
        await unit.done.wait()
        if unit.error is not None:
            raise unit.error
        return unit.result

    def _check_open(self) -> None:
        if self._closed:
            raise DatabaseClosed("the database is closed")

    async def _serve_writes(self) -> None:
        try:
            async for first in self._waiting:
                batch = [first]
                while len(batch) < GROUP:
                    try:
                        batch.append(self._waiting.receive_nowait())
                    except (anyio.WouldBlock, anyio.EndOfStream):
                        break
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(self._commit_together, batch, limiter=self._write_threads)
                for unit in batch:
                    unit.done.set()
        finally:
            self._waiting.close()
            while True:
                try:
                    unit = self._waiting.receive_nowait()
                except (anyio.WouldBlock, anyio.EndOfStream, anyio.ClosedResourceError):
                    break
                unit.error = DatabaseClosed("the database is closed")
                unit.done.set()

    def _commit_together(self, batch: list[_Unit]) -> None:
        try:
            with self._writing.connect() as connection, connection.begin():
                # Savepoints on the driver: SQLAlchemy's own take longer than the unit's statements.
                driver: sqlite3.Connection = cast("Any", connection.connection.dbapi_connection)
                for unit in batch:
                    driver.execute("SAVEPOINT unit")
                    try:
                        unit.result = unit.work(connection)
                    except Exception as error:
                        driver.execute("ROLLBACK TO unit")
                        unit.error = error
                    driver.execute("RELEASE unit")
        except Exception as error:  # the commit itself failed: nobody's work was kept
            for unit in batch:
                unit.error = unit.error or error

    def _refuse_more(self) -> None:
        self._closed = True
        self._submit.close()

    async def _close(self) -> None:
        with anyio.move_on_after(CLOSE_LIMIT_S, shield=True):
            self._waiting.close()
            places = (
                (self._read_threads, self._readers),
                (self._write_threads, self._writers),
                (self._look_up_threads, LOOK_UPS),
            )
            for threads, most in places:
                for _ in range(most):  # who holds every place knows that nobody else works any more
                    await threads.acquire_on_behalf_of(object())
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._dispose)
        if self._watching is not None:
            self._watching.close()

    def _dispose(self) -> None:
        while self._kept:
            self._kept.pop().close()
        self._reading.dispose()
        if self._look_ups is not None:
            self._look_ups.close()
        self._looking_up.dispose()
        if self._writing is not self._reading:
            self._writing.dispose()


@asynccontextmanager
async def opened(url: str) -> AsyncGenerator[Database]:
    """A database whose schema is current already (see `migrate.upgrade`). Writes that were accepted finish on close."""
    database = Database(url)
    try:
        async with anyio.create_task_group() as tasks:
            if database.is_sqlite:
                tasks.start_soon(database._serve_writes)  # pyright: ignore[reportPrivateUsage]  # its own factory
            try:
                yield database
            finally:
                database._refuse_more()  # pyright: ignore[reportPrivateUsage]  # its own factory
    finally:
        await database._close()  # pyright: ignore[reportPrivateUsage]  # its own factory
