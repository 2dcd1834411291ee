"""The only place that knows the engine: units of work on SQLite or Postgres.

A unit of work is a plain function `work(conn, ...)` of synchronous SQLAlchemy Core. Reads run in a few threads. Writes
on SQLite go through one writer (`group_commit.py`); on Postgres each is a transaction in a thread. Brief units, which
touch a few rows by their keys, run on the event loop (`brief_units.py`): handing one to a thread and back takes longer
than the unit. A unit must be short: on SQLite it delays its neighbours.
"""

import logging
import sqlite3
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast
from urllib.parse import quote

import anyio
from anyio import to_thread
from sqlalchemy import Connection, make_url, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from . import silence
from .checkpoints import Checkpoints
from .engines import (
    BEGINS,
    POSTGRES_CONNECTIONS,
    READERS,
    STOPS,
    DatabaseClosed,
    FrozenConnection,
    Limits,
    make_engine,
)
from .fullness import DRIVER_ERRORS, Fullness
from .group_commit import GroupCommit
from .lock_waits import Locked, LockWaits, is_locked
from .presence import Loss, Presence
from .reachability import AWAY_ERRORS, Reachability
from .unavailable import StorageUnavailable

if TYPE_CHECKING:
    from .brief_units import BriefUnits

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

ROOM_S = 1.0
"""Between two tries of a write that waits until the disk has room."""
CLOSE_LIMIT_S = 30
"""How long closing waits for the units of work that run."""
AGAIN_IN_THREADS = 1
"""Units of work that wait for locks and are tried again at a time, of those in threads."""
AGAIN_ON_LOOP = 2
"""The same, of brief units."""
SILENT_S = 1.0
"""After how long without a word a transaction is ended that is in the way of a stop."""
STOP_WAITS_S = 4.0
"""How long a stop waits for locks in all."""


class Database:
    """Runs units of work. Made by `opened`."""

    def __init__(self, url: str, limits: Limits | None = None, *, checkpoints: bool = False) -> None:
        self.url = url
        self.limits = limits or Limits()
        made = make_url(url)
        self.is_sqlite = made.get_backend_name() == "sqlite"
        file = Path(made.database or "") if self.is_sqlite else None
        self.fullness = Fullness(None if file is None else file.parent)
        self.presence = Presence(file)
        self.reachability = Reachability()
        moves = Checkpoints(self.presence) if checkpoints else None
        self._writer = GroupCommit(make_engine(url, writer=True, begins=False), moves) if self.is_sqlite else None
        self._brief = None if self.is_sqlite else _brief_units(url, self.limits)
        self._engine = make_engine(url, limits=self.limits)
        self._at_once = self._engine.execution_options(isolation_level="AUTOCOMMIT", **{BEGINS: None})
        # On Postgres each statement would see a state of its own otherwise; SQLite reads a snapshot anyway.
        self._reading = self._engine.execution_options(
            **{BEGINS: self.limits.begin(" ISOLATION LEVEL REPEATABLE READ")}
        )
        waits = replace(self.limits, try_ms=round(STOP_WAITS_S * 1_000))
        self._stopping = self._engine.execution_options(**{BEGINS: waits.begin()})
        self._looking_up = make_engine(url, begins=False) if self.is_sqlite else None
        self._look_ups: Connection | None = None
        most = READERS if self.is_sqlite else POSTGRES_CONNECTIONS
        self._threads = anyio.CapacityLimiter(most)
        # Writes may wait for locks, and no read is to wait behind those.
        self._write_threads = anyio.CapacityLimiter(most - 2)
        self._stop_threads = anyio.CapacityLimiter(STOPS)
        self._thread_waits, self._loop_waits = LockWaits(AGAIN_IN_THREADS), LockWaits(AGAIN_ON_LOOP)
        self._closed = False
        self._watching: sqlite3.Connection | None = None

    async def read(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit of work that changes nothing; it sees one consistent state."""
        self._check_open()

        def run() -> T:
            with self._reading.connect() as connection, connection.begin():
                return work(connection, *args, **kwargs)

        with self._explained():
            return await to_thread.run_sync(run, limiter=self._threads)

    async def look_up(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit of work that reads a few rows by their keys.

        On SQLite its reading never waits for a lock. On Postgres it is as `at_once`.
        """
        if self._looking_up is None:
            return await self.at_once(work, *args, **kwargs)
        self._check_open()
        if self._look_ups is None:
            with self._explained():
                self._look_ups = self._looking_up.connect()
        connection = self._look_ups
        # One connection that stays taken, its transactions begun and ended on the driver: leaving that to the pool and
        # to SQLAlchemy takes as long as the look-up itself.
        driver = cast("sqlite3.Connection", connection.connection.dbapi_connection)
        driver.execute("BEGIN").close()
        try:
            return work(connection, *args, **kwargs)
        finally:
            driver.rollback()
            if isinstance(driver, FrozenConnection):
                self._look_ups = None
                connection.close()

    async def at_once(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a few brief statements on Postgres, each committed as it is run, each seeing the state of that moment.

        If the connection turns out to be broken, all of them are run again on another one, once.
        """
        self._check_open()

        def run() -> T:
            with self._at_once.connect() as connection:
                return work(connection, *args, **kwargs)

        async def attempt() -> T:
            if self._brief is not None:
                return await self._brief.at_once(lambda connection: work(connection, *args, **kwargs))
            return await to_thread.run_sync(run, limiter=self._threads)

        with self._explained():
            try:
                return await attempt()
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
            return await attempt()

    def generation(self) -> int | None:
        """A number that differs once anybody has committed anything; None on Postgres, which cannot tell cheaply.

        It takes some microseconds, and belongs to the event loop's thread. Source: SQLite, PRAGMA data_version.
        """
        if not self.is_sqlite or self._closed or self.presence.is_gone:
            return None
        try:
            if self._watching is None:
                file = quote(make_url(self.url).database or "")
                self._watching = sqlite3.connect(f"file:{file}?mode=rw", uri=True, isolation_level=None)
            return int(self._watching.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.OperationalError:  # it is gone, or there is no room for the files beside it
            return None

    async def write(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit of work and returns once it is committed. If it raises, nothing of it is kept.

        On Postgres it is run again where it could not have a lock, and so may do nothing but with its connection.

        Raises:
            fullness.StorageFull: there is no room on the disk.
            reachability.DatabaseUnreachable: Postgres does not answer. Whether the work was kept is not known.
            presence.DatabaseGone: the file is not where it was. Whether the work was kept in it is not known.
            lock_waits.Locked: others held a lock all the time (`Limits.lock_ms`).
        """
        self._check_open()

        def run() -> T:
            with self._engine.begin() as connection:
                return work(connection, *args, **kwargs)

        async def attempt() -> T:
            async with self._write_threads:
                return await to_thread.run_sync(run, limiter=self._threads)

        with self._explained():
            if self._writer is not None:
                return await self._write_into_file(self._writer, lambda found: work(found, *args, **kwargs), False)
            return await self._thread_waits.run(attempt, self.limits.lock_ms / 1_000)

    async def write_briefly(
        self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `write`, for a unit that touches a bounded number of rows and takes some milliseconds at most.

        It runs on the event loop, and so may not wait for anything but the database.
        """
        self._check_open()

        def run(connection: Connection) -> T:
            return work(connection, *args, **kwargs)

        with self._explained():
            if self._writer is not None:
                return await self._write_into_file(self._writer, run, True)
            if (brief := self._brief) is not None:
                return await self._loop_waits.run(lambda: brief.transaction(run), self.limits.lock_ms / 1_000)
        return await self.write(work, *args, **kwargs)

    async def _write_into_file(self, writer: GroupCommit, run: Callable[[Connection], T], is_brief: bool) -> T:
        """Commits into the file that everybody reads, and says so only if it is still there then."""
        done = await writer.run(run, is_brief=is_brief)
        self.presence.check()
        return done

    async def keep_log(self) -> None:
        """Moves what an SQLite database has in its log into its file, where the log was removed beside it."""
        if self._writer is not None and self.presence.loss is Loss.LOG_MOVED and not self._closed:
            await self._writer.run(lambda _: None, is_brief=False)

    async def write_once_there_is_room(
        self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `write`, again and again while the disk is full. For what has to be done before anything else is."""
        while True:
            try:
                return await self.write(work, *args, **kwargs)
            except StorageUnavailable:
                await anyio.sleep(ROOM_S)

    async def write_over_silent(
        self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `write`, but waits for nobody who is silent: for what stops something.

        On Postgres a transaction that is in the way and whose process has not said a word for a second is ended. That
        process is told at its next statement, and nothing of what it was about to do is kept.

        Raises:
            lock_waits.Locked: somebody who is not silent was in the way all the time.
        """
        if self.is_sqlite:
            return await self.write(work, *args, **kwargs)
        self._check_open()
        waiting: list[int] = []

        def run() -> T:
            with self._stopping.connect() as connection, connection.begin():
                waiting.append(connection.execute(silence.OWN_PID).scalar_one())
                return work(connection, *args, **kwargs)

        done: list[T] = []
        failed: list[Exception] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._clear_the_way, waiting)
            try:
                done.append(await to_thread.run_sync(run, limiter=self._stop_threads))
            except Exception as error:
                failed.append(error)
            tasks.cancel_scope.cancel()
        with self._explained():
            if not failed:
                return done[0]
            if is_locked(failed[0]):
                raise Locked("a lock could not be had in time") from failed[0]
            raise failed[0]

    async def _clear_the_way(self, waiting: list[int]) -> None:
        while True:
            await anyio.sleep(SILENT_S / 2)
            if not waiting:  # it has no connection yet
                continue
            try:
                ended = await self.at_once(silence.clear_the_way, waiting[0], round(SILENT_S * 1_000))
            except StorageUnavailable:
                return
            except DBAPIError as error:
                log.warning("silent transactions cannot be ended: %s", type(error.orig).__name__)
                return
            if ended:
                log.warning("a silent transaction was in the way of a stop and was ended")

    async def answers(self, limit_s: float) -> bool:
        """Whether the database answers within so many seconds."""
        try:
            with self._explained():
                if self._brief is not None:
                    return await self._brief.at_once(_asked, limit_s) == 1
                with anyio.fail_after(limit_s):
                    return await self.read(_asked) == 1
        except (SQLAlchemyError, sqlite3.Error, StorageUnavailable, TimeoutError):
            return False

    async def end_silent(self) -> None:
        """Ends what holds locks and has been silent for longer than it may, whoever began it. For Postgres."""
        if not self.is_sqlite and await self.at_once(silence.end_stuck, self.limits.silent_ms):
            log.warning("a transaction that was silent for too long was ended")

    @contextmanager
    def _explained(self) -> Generator[None]:
        """Raises what says more than an engine's error, where there is more to say."""
        try:
            yield
        except (*DRIVER_ERRORS, *AWAY_ERRORS) as error:
            self.presence.check()
            self.fullness.check(error)
            self.reachability.check(error)
            raise
        self.reachability.answered()

    def _check_open(self) -> None:
        self.presence.check()  # a new connection would make a file where none is
        if self._closed:
            raise DatabaseClosed("the database is closed")

    async def _close(self) -> None:
        with anyio.move_on_after(CLOSE_LIMIT_S, shield=True):
            if self._writer is not None:
                await self._writer.close()
            if self._brief is not None:
                await self._brief.close()
            for threads in (self._write_threads, self._threads):  # who holds every place knows that nobody else works
                for _ in range(int(threads.total_tokens)):
                    await threads.acquire_on_behalf_of(object())
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._dispose)
        if self._watching is not None:
            self._watching.close()

    def _dispose(self) -> None:
        self._engine.dispose()
        if self._look_ups is not None:
            self._look_ups.close()
        if self._looking_up is not None:
            self._looking_up.dispose()

    async def _serve(self) -> None:
        if self._writer is not None:
            await self._writer.serve()

    def _refuse_more(self) -> None:
        self._closed = True
        if self._writer is not None:
            self._writer.refuse_more()


def _asked(connection: Connection) -> int:
    return connection.execute(select(1)).scalar_one()


def _brief_units(url: str, limits: Limits) -> "BriefUnits | None":
    from .brief_units import BriefUnits  # only here, since what it imports would delay a start on SQLite
    from .event_loop_driver import can_follow

    return BriefUnits(url, limits) if can_follow(url) else None


@asynccontextmanager
async def opened(url: str, limits: Limits | None = None, *, checkpoints: bool = False) -> AsyncGenerator[Database]:
    """A database whose schema is current already (see `migrate.upgrade`). Writes that were accepted finish on close.

    Args:
        url: where it is.
        limits: of transactions on Postgres.
        checkpoints: whether this process serves the folder of an SQLite database: it alone writes into the file itself.
    """
    database = Database(url, limits, checkpoints=checkpoints)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(database._serve)  # pyright: ignore[reportPrivateUsage]  # its own factory
            try:
                yield database
            finally:
                database._refuse_more()  # pyright: ignore[reportPrivateUsage]  # its own factory
    finally:
        await database._close()  # pyright: ignore[reportPrivateUsage]  # its own factory
