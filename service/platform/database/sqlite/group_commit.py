"""The one writer of SQLite: units of work that wait at the same time share a commit, each in its own savepoint.

A commit waits for the disk, so it always runs in a thread. Brief units run on the event loop before it: in the thread,
they would compete with the event loop for the interpreter lock at every statement, which costs more than the
statements. That the file is in its place is checked once for each group, before it and after its commit.
"""

import sqlite3
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from callwright.service.platform.database.engines import SQLITE_WAITS_S, DatabaseClosed
from callwright.service.platform.database.sqlite.checkpoints import Checkpoints, driver_of
from callwright.service.platform.database.sqlite.file_guard import DatabaseGone, FileGuard

T = TypeVar("T")

GROUP = 64
"""The most units of work that share one commit."""
WAITING_WRITES = 2_000
"""The most units of work in the queue of the writer; further ones wait for a place in it."""
HERE_S = 0.005
"""How long units of one group may run on the event loop; the rest run with the next group."""


@dataclass(eq=False)
class _Unit:
    work: Callable[[Connection], Any]
    is_brief: bool
    done: anyio.Event = field(default_factory=anyio.Event)
    result: Any = None
    error: BaseException | None = None


class GroupCommit:
    """Runs units of work that write, while `serve` runs. The engine must not begin transactions itself.

    With `checkpoints` it is the one writer that moves the log into the file.
    """

    def __init__(self, engine: Engine, file_guard: FileGuard, checkpoints: Checkpoints | None = None) -> None:
        self._engine = engine
        self._file_guard = file_guard
        self._checkpoints = checkpoints
        self._kept: Connection | None = None
        streams: tuple[MemoryObjectSendStream[_Unit], MemoryObjectReceiveStream[_Unit]] = (
            anyio.create_memory_object_stream[_Unit](WAITING_WRITES)
        )
        self._submit, self._waiting = streams
        self._thread = anyio.CapacityLimiter(1)

    async def run(self, work: Callable[[Connection], T], *, is_brief: bool) -> T:
        """Runs a unit and returns once it is committed. A brief one takes some milliseconds at most.

        Raises:
            DatabaseClosed: nothing of it was kept.
            DatabaseGone: the file is not in its place. The work may have been kept in it.
        """
        unit = _Unit(work, is_brief)
        try:
            try:
                self._submit.send_nowait(unit)
            except anyio.WouldBlock:
                await self._submit.send(unit)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise DatabaseClosed("the database is closed") from error
        await unit.done.wait()
        if unit.error is not None:
            raise unit.error
        return unit.result

    async def serve(self) -> None:
        """Commits what is submitted, until no more is accepted and all is done."""
        async with anyio.create_task_group() as tasks:
            await self._serve(tasks)

    async def _serve(self, tasks: TaskGroup) -> None:
        group: deque[_Unit] = deque()
        try:
            while True:
                if not group:
                    try:
                        group.append(await self._waiting.receive())
                    except anyio.EndOfStream:
                        return
                while len(group) < GROUP:
                    try:
                        group.append(self._waiting.receive_nowait())
                    except (anyio.WouldBlock, anyio.EndOfStream):
                        break
                with anyio.CancelScope(shield=True):
                    for unit in await self._commit_some(group):
                        unit.done.set()
                    if self._checkpoints is not None and self._kept is not None:
                        await self._checkpoints.move_if_due(self._kept, tasks)
        finally:
            self._waiting.close()
            while True:
                try:
                    group.append(self._waiting.receive_nowait())
                except (anyio.WouldBlock, anyio.EndOfStream, anyio.ClosedResourceError):
                    break
            for unit in group:
                unit.error = DatabaseClosed("the database is closed")
                unit.done.set()

    async def _commit_some(self, group: deque[_Unit]) -> list[_Unit]:
        """Runs and commits units of the group; removes them from it and returns them with their results."""
        try:
            self._file_guard.check()  # what is written into a file that was moved would be lost
        except DatabaseGone as error:
            units = list(group)
            group.clear()
            _refuse(units, error)
            return units
        units = await self._perform_some(group)
        try:
            self._file_guard.check()
        except DatabaseGone as error:
            _refuse(units, error)
        return units

    async def _perform_some(self, group: deque[_Unit]) -> list[_Unit]:
        if self._kept is None or not all(unit.is_brief for unit in group) or not _begun(driver_of(self._kept)):
            units = list(group)
            group.clear()
            await to_thread.run_sync(self._commit_there, units, limiter=self._thread)
            return units
        units: list[_Unit] = []
        until = time.perf_counter() + HERE_S
        try:
            while group:
                units.append(group.popleft())
                _perform(self._kept, units[-1])
                if time.perf_counter() > until:
                    break
        except sqlite3.Error as error:
            _fail(self._kept, units, error)
        else:
            await to_thread.run_sync(_commit, self._kept, units, limiter=self._thread)
        return units

    def _commit_there(self, units: list[_Unit]) -> None:
        if self._kept is None:
            try:
                kept = self._engine.connect()
                if self._checkpoints is not None:
                    self._checkpoints.begin(kept)
                else:  # only the process that serves the folder decides when the log is moved into the file
                    driver_of(kept).execute("PRAGMA wal_autocheckpoint = 0").close()
                self._kept = kept
                self._wait_for_others(0)
            except Exception as error:
                for unit in units:
                    unit.error = error
                return
        try:
            self._wait_for_others(SQLITE_WAITS_S)
            try:
                driver_of(self._kept).execute("BEGIN IMMEDIATE")
            finally:
                self._wait_for_others(0)  # the event loop never waits for a lock
            for unit in units:
                _perform(self._kept, unit)
        except sqlite3.Error as error:
            _fail(self._kept, units, error)
        else:
            _commit(self._kept, units)

    def _wait_for_others(self, seconds: int) -> None:
        assert self._kept is not None
        driver_of(self._kept).execute(f"PRAGMA busy_timeout = {seconds * 1000}").close()

    def refuse_more(self) -> None:
        """Accepts no more units; `serve` ends after those that were accepted."""
        self._submit.close()

    async def close(self) -> None:
        """Waits for the group under way, and closes the connection."""
        self._waiting.close()
        await self._thread.acquire_on_behalf_of(self)

        def dispose() -> None:
            if self._kept is not None:
                if self._checkpoints is None:
                    self._kept.close()
                else:
                    self._checkpoints.close(self._kept)
            self._engine.dispose()

        await to_thread.run_sync(dispose)


def _begun(driver: sqlite3.Connection) -> bool:
    """Whether a transaction could be begun without waiting for another process."""
    try:
        driver.execute("BEGIN IMMEDIATE").close()
    except sqlite3.Error:  # the thread finds out the reason
        return False
    return True


def _perform(connection: Connection, unit: _Unit) -> None:
    """Raises `sqlite3.Error` when the whole transaction is gone, for example on a full disk."""
    # Savepoints on the driver: SQLAlchemy's own take longer than the unit's statements.
    driver = driver_of(connection)
    driver.execute("SAVEPOINT unit")
    try:
        unit.result = unit.work(connection)
    except Exception as error:
        unit.error = error
        if not driver.in_transaction:  # the engine rolled back all units, which fail for the same reason
            raise _driver_error(error) from error
        driver.execute("ROLLBACK TO unit")
    driver.execute("RELEASE unit")


def _driver_error(error: Exception) -> sqlite3.Error:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return cause if isinstance(cause, sqlite3.Error) else sqlite3.OperationalError("the transaction is gone")


def _commit(connection: Connection, units: list[_Unit]) -> None:
    try:
        driver_of(connection).execute("COMMIT")
    except sqlite3.Error as error:
        _fail(connection, units, error)


def _refuse(units: list[_Unit], error: Exception) -> None:
    for unit in units:
        unit.error = unit.error or error


def _fail(connection: Connection, units: list[_Unit], error: Exception) -> None:
    """Marks all units as failed, because nothing was kept."""
    _refuse(units, error)
    if driver_of(connection).in_transaction:
        with suppress(sqlite3.Error):  # then the next group cannot begin, and tries again
            driver_of(connection).execute("ROLLBACK")
