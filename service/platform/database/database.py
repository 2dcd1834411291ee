"""The only access to the database: units of work that read or write, on SQLite or Postgres.

The mark of a unit (`units.py`) tells the database how to run it.
"""

import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Concatenate, ParamSpec, TypeVar

import anyio
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from callwright.service.platform.database.engines import DatabaseClosed, Limits, file_of
from callwright.service.platform.database.postgres.executor import SharedExecutor
from callwright.service.platform.database.postgres.reachability import (
    NO_ANSWER,
    TAKES_NO_WRITES,
    DatabaseUnreachable,
    Reachability,
)
from callwright.service.platform.database.postgres.time_limits import limited, uncounted
from callwright.service.platform.database.sqlite.disk_space import DiskSpace
from callwright.service.platform.database.sqlite.executor import FileExecutor
from callwright.service.platform.database.sqlite.file_guard import FileGuard
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.database.units import Executor, mark_of

P = ParamSpec("P")
T = TypeVar("T")

ROOM_S = 1.0
"""Seconds between two attempts to write while the storage cannot be written to."""


class Database:
    """Runs units of work. Made by `opened`."""

    def __init__(self, url: str, limits: Limits | None = None, *, checkpoints: bool = False) -> None:
        self.url = url
        file = file_of(url)
        self.is_shared = file is None
        """Whether other processes may use it at the same time; an SQLite file belongs to one process."""
        self.disk_space = DiskSpace(None if file is None else file.parent)
        self.file_guard = FileGuard(file)
        self.reachability = Reachability()
        self._closed = False
        self._executor: Executor = (
            SharedExecutor(url, limits or Limits(), self.disk_space, self.reachability, self._check_open)
            if file is None
            else FileExecutor(url, self.file_guard, self.disk_space, checkpoints=checkpoints)
        )

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, url: str, limits: Limits | None = None, *, checkpoints: bool = False
    ) -> "AsyncGenerator[Database]":
        """A database whose schema is current already (see `migrations.upgrade`). Accepted writes finish on close.

        Args:
            url: the address of the database.
            limits: time limits of transactions on Postgres.
            checkpoints: whether this process serves the folder of an SQLite database. Only that process moves the log
                into the file.
        """
        database = cls(url, limits, checkpoints=checkpoints)
        async with database._executor.running():
            try:
                yield database
            finally:
                database._closed = True

    async def read(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit of work that changes nothing. It sees one consistent state, unless it is brief.

        Raises:
            reachability.DatabaseUnreachable: Postgres does not answer.
            file_guard.DatabaseGone: the file was removed, moved, replaced or overwritten.
        """
        self._check_open()
        return await self._executor.read(lambda connection: work(connection, *args, **kwargs), mark_of(work))

    async def write(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a unit of work and returns once it is committed. If it raises, nothing of it is kept.

        On Postgres it is run again if it could not get a lock, so it must have no effect outside its connection.

        Raises:
            disk_space.StorageFull: there is no room on the disk.
            reachability.DatabaseUnreachable: Postgres does not answer. Whether the work was kept is not known.
            file_guard.DatabaseGone: the file was removed, replaced or overwritten. The work may have been kept.
            lock_waits.Locked: others held a lock for longer than `Limits.lock_ms`.
        """
        self._check_not_closed()
        return await self._executor.write(lambda connection: work(connection, *args, **kwargs), mark_of(work))

    async def write_once_there_is_room(
        self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Like `write`, but tries again until the storage can be written to."""
        while True:
            try:
                return await self.write(work, *args, **kwargs)
            except StorageUnavailable:
                await anyio.sleep(ROOM_S)

    def generation(self) -> int | None:
        """A number that changes whenever anybody commits; None if it cannot be had cheaply."""
        return None if self._closed or self.file_guard.is_gone else self._executor.generation()

    async def keep_log(self) -> None:
        """Moves the log of an SQLite database into its file if somebody has removed the log file."""
        if not self._closed:
            await self._executor.keep_log()

    async def end_idle_transactions(self) -> None:
        """Ends transactions on Postgres that hold locks and were silent for too long, those of others too."""
        self._check_open()
        await self._executor.end_idle_transactions()

    def limited(self) -> AbstractContextManager[None]:
        """Units of work that begin in the block, for example those of one request, share one time limit.

        There is no limit on SQLite, where nothing waits for another machine.
        """
        return self._executor.limited()

    def uncounted(self) -> AbstractContextManager[None]:
        """What the block does without the database takes nothing of the time limit around it."""
        return uncounted()

    def shorten(self, limit_s: float) -> None:
        """Limits every unit of work on Postgres from now on, because the process is about to end."""
        self._executor.shorten(limit_s)

    async def problem(self, limit_s: float) -> str | None:
        """What is wrong with the database, such as `does not answer`; None if it works. Takes at most `limit_s`."""
        try:
            with limited(limit_s):
                takes_writes = await self.read(self._executor.takes_writes)
            return None if takes_writes else TAKES_NO_WRITES
        except DatabaseUnreachable as error:
            return error.why
        except (SQLAlchemyError, sqlite3.Error, StorageUnavailable, TimeoutError):
            return NO_ANSWER

    def _check_open(self) -> None:
        self.file_guard.check()
        self._check_not_closed()

    def _check_not_closed(self) -> None:
        if self._closed:
            raise DatabaseClosed("the database is closed")
