"""The only place that knows the engine: units of work on SQLite or Postgres.

A unit of work is a plain function `work(conn, ...)` of synchronous SQLAlchemy Core. Reads run in a few threads. Writes
on SQLite go through one writer (`group_commit.py`); on Postgres each is a transaction in a thread. Brief units, which
touch a few rows by their keys, run on the event loop (`brief_units.py`): handing one to a thread and back takes longer
than the unit. A unit must be short: on SQLite it delays its neighbours.
"""

import logging
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import anyio
from anyio import to_thread
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from callwright.service.platform.database.engines import (
    BEGINS,
    POSTGRES_CONNECTIONS,
    READERS,
    STOPS,
    DatabaseClosed,
    Limits,
    file_of,
    make_engine,
)
from callwright.service.platform.database.postgres import silence
from callwright.service.platform.database.postgres.lock_waits import Locked, LockWaits, is_locked
from callwright.service.platform.database.postgres.reachability import (
    AWAY_ERRORS,
    NO_ANSWER,
    TAKES_NO_WRITES,
    DatabaseUnreachable,
    Reachability,
)
from callwright.service.platform.database.postgres.time_limits import (
    LIMIT_S,
    LOOK_EVERY_S,
    ThreadLimits,
    deadline,
    limited,
)
from callwright.service.platform.database.sqlite.checkpoints import Checkpoints
from callwright.service.platform.database.sqlite.file_look_ups import FileLookUps
from callwright.service.platform.database.sqlite.fullness import DRIVER_ERRORS, Fullness
from callwright.service.platform.database.sqlite.group_commit import GroupCommit
from callwright.service.platform.database.sqlite.presence import Loss, Presence
from callwright.service.platform.database.thread_units import ThreadUnits
from callwright.service.platform.database.unavailable import StorageUnavailable

if TYPE_CHECKING:
    from callwright.service.platform.database.postgres.brief_units import BriefUnits

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

LAST_S = 3.0
"""How long the units of work on Postgres may take that run when the database is closed."""
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
        file = file_of(url)
        self.is_shared = file is None
        """Whether other processes may work with it at the same time; a file of SQLite belongs to one."""
        self.fullness = Fullness(None if file is None else file.parent)
        self.presence = Presence(file)
        self.reachability = Reachability()
        self._times = ThreadLimits() if self.is_shared else None
        self._limit_s = LIMIT_S
        moves = Checkpoints(self.presence) if checkpoints else None
        self._writer = GroupCommit(make_engine(url, writer=True, begins=False), moves) if not self.is_shared else None
        self._brief: BriefUnits | None = None
        self._brief_is_chosen = not self.is_shared
        self._choosing = anyio.Lock()
        self._engine = make_engine(url, limits=self.limits, times=self._times)
        self._at_once = self._engine.execution_options(isolation_level="AUTOCOMMIT", **{BEGINS: None})
        # On Postgres each statement would see a state of its own otherwise; SQLite reads a snapshot anyway.
        self._reading = self._engine.execution_options(**{BEGINS: self.limits.begin("REPEATABLE READ")})
        waits = replace(self.limits, try_ms=round(STOP_WAITS_S * 1_000))
        self._stopping = self._engine.execution_options(**{BEGINS: waits.begin()})
        self._look_ups = FileLookUps(url) if not self.is_shared else None
        most = POSTGRES_CONNECTIONS if self.is_shared else READERS
        self._threads = ThreadUnits(most, is_bounded=self.is_shared)
        self._stop_threads = anyio.CapacityLimiter(STOPS)
        self._thread_waits = LockWaits(AGAIN_IN_THREADS, self.limits.lock_ms, self._check_open)
        self._loop_waits = LockWaits(AGAIN_ON_LOOP, self.limits.lock_ms, self._check_open)
        self._looking_after = anyio.CancelScope(shield=True)
        self._closed = False

    async def read(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit of work that changes nothing; it sees one consistent state."""
        self._check_open()

        def run() -> T:
            with self._reading.connect() as connection, connection.begin():
                return work(connection, *args, **kwargs)

        with self._explained():
            return await self._threads.run(run, deadline(self._limit_s))

    async def look_up(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit of work that reads a few rows by their keys.

        On SQLite its reading never waits for a lock. On Postgres it is as `at_once`.
        """
        if self._look_ups is None:
            return await self.at_once(work, *args, **kwargs)
        self._check_open()
        if not self._look_ups.is_connected:
            with self._explained():
                self._look_ups.connect()
        return self._look_ups.run(lambda connection: work(connection, *args, **kwargs))

    async def at_once(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a few brief statements on Postgres, each committed as it is run, each seeing the state of that moment.

        If the connection turns out to be broken, all of them are run again on another one, once.
        """
        self._check_open()
        until = deadline(self._limit_s)

        def run() -> T:
            with self._at_once.connect() as connection:
                return work(connection, *args, **kwargs)

        async def attempt() -> T:
            if (brief := await self._brief_units(until)) is not None:
                return await brief.at_once(lambda connection: work(connection, *args, **kwargs), until)
            return await self._threads.run(run, until)

        with self._explained():
            try:
                return await attempt()
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
            return await attempt()

    def generation(self) -> int | None:
        """A number that differs once anybody has committed anything; None on Postgres, which cannot tell cheaply."""
        if self._look_ups is None or self._closed or self.presence.is_gone:
            return None
        return self._look_ups.generation()

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

        def run(connection: Connection) -> T:
            return work(connection, *args, **kwargs)

        with self._explained(writes=True):
            if self._writer is not None:
                return await self._write_into_file(self._writer, run, False)
            return await self._write_in_thread(run, deadline(self._limit_s))

    async def write_briefly(
        self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `write`, for a unit that touches a bounded number of rows and takes some milliseconds at most.

        It runs on the event loop, and so may not wait for anything but the database.
        """
        self._check_open()

        def run(connection: Connection) -> T:
            return work(connection, *args, **kwargs)

        with self._explained(writes=True):
            if self._writer is not None:
                return await self._write_into_file(self._writer, run, True)
            until = deadline(self._limit_s)
            if (brief := await self._brief_units(until)) is None:
                return await self._write_in_thread(run, until)
            return await self._loop_waits.run(lambda: brief.transaction(run, until))

    async def _write_in_thread(self, work: Callable[[Connection], T], until: float) -> T:
        def run() -> T:
            with self._engine.begin() as connection:
                return work(connection)

        return await self._thread_waits.run(lambda: self._threads.run_write(run, until))

    async def _write_into_file(self, writer: GroupCommit, run: Callable[[Connection], T], is_brief: bool) -> T:
        """Commits into the file that everybody reads, and says so only if it is still there then."""
        done = await writer.run(run, is_brief=is_brief)
        self.presence.check()
        return done

    async def keep_log(self) -> None:
        """Moves what an SQLite database has in its log into its file, where the log was removed beside it."""
        if self._writer is not None and self.presence.loss is Loss.LOG_MOVED and not self._closed:
            await self._writer.run(lambda _: None, is_brief=False)

    async def write_over_silent(
        self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `write`, but waits for nobody who is silent: for what stops something.

        On Postgres a transaction that is in the way and whose process has not said a word for a second is ended. That
        process is told at its next statement, and nothing of what it was about to do is kept.

        Raises:
            lock_waits.Locked: somebody who is not silent was in the way all the time.
        """
        if not self.is_shared:
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
                with limited(self._limit_s):
                    done.append(await to_thread.run_sync(run, limiter=self._stop_threads))
            except Exception as error:
                failed.append(error)
            tasks.cancel_scope.cancel()
        with self._explained(writes=True):
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

    async def problem(self, limit_s: float) -> str | None:
        """What keeps the database from working, within so many seconds: `does not answer`, say. None where it works."""
        try:
            with limited(limit_s):
                takes_writes = await (self.at_once if self.is_shared else self.read)(_takes_writes)
            return None if takes_writes else TAKES_NO_WRITES
        except DatabaseUnreachable as error:
            return error.why
        except (SQLAlchemyError, sqlite3.Error, StorageUnavailable, TimeoutError):
            return NO_ANSWER

    def shorten(self, limit_s: float) -> None:
        """From now on no unit of work on Postgres may take longer than this: the process is told to end."""
        self._limit_s = limit_s
        if self._times is not None:
            self._times.shorten(limit_s)
        if self._brief is not None:
            self._brief.shorten(limit_s)

    async def _brief_units(self, until: float) -> "BriefUnits | None":
        """What runs brief units on Postgres; None where they run in threads (`event_loop_driver.can_follow`)."""
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
                        connector = await to_thread.run_sync(find_connector, self.url, self.limits, self._times)
                    self._brief = None if connector is None else BriefUnits(connector, self.limits, self._limit_s)
                    self._brief_is_chosen = True
        return self._brief

    async def end_silent(self) -> None:
        """Ends what holds locks and has been silent for longer than it may, whoever began it. For Postgres."""
        if self.is_shared and await self.at_once(silence.end_stuck, self.limits.silent_ms):
            log.warning("a transaction that was silent for too long was ended")

    @contextmanager
    def _explained(self, *, writes: bool = False) -> Generator[None]:
        """Raises what says more than an engine's error, where there is more to say."""
        try:
            yield
        except (*DRIVER_ERRORS, *AWAY_ERRORS) as error:
            self.presence.check()
            self.fullness.check(error)
            if self.is_shared:
                self.reachability.check(error)
            raise
        self.reachability.answered(wrote=writes)

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
            await self._threads.wait_for_all()
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._dispose)
        self._looking_after.cancel()

    def _dispose(self) -> None:
        self._engine.dispose()
        if self._look_ups is not None:
            self._look_ups.close()

    async def _serve(self) -> None:
        if self._writer is not None:
            await self._writer.serve()

    async def _look_after_threads(self) -> None:
        with self._looking_after:
            while self._times is not None:
                await anyio.sleep(LOOK_EVERY_S)
                self._times.cut_off()

    def _refuse_more(self) -> None:
        self._closed = True
        if self._writer is not None:
            self._writer.refuse_more()


def _takes_writes(connection: Connection) -> bool:
    if connection.dialect.name == "sqlite":
        return connection.execute(select(1)).scalar_one() == 1
    return connection.execute(text("SELECT current_setting('transaction_read_only')")).scalar_one() == "off"


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
            tasks.start_soon(database._look_after_threads)  # pyright: ignore[reportPrivateUsage]  # its own factory
            try:
                yield database
            finally:
                database._refuse_more()  # pyright: ignore[reportPrivateUsage]  # its own factory
                if database.is_shared:
                    database.shorten(LAST_S)
                    await database._close()  # pyright: ignore[reportPrivateUsage]  # its own factory
    finally:
        if not database.is_shared:
            await database._close()  # pyright: ignore[reportPrivateUsage]  # its own factory
