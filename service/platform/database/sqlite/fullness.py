"""A disk without room: how it is told from other failures, and who has to know while it lasts.

Writes notice it, all of them alike. The log says so once and then each minute at most; health, the dialler and the
sender of events look here. It is over when something was written to find that out (`workers/storage_watch.py`): a write
that succeeds by chance, in room that was left in some file, says nothing.
"""

import errno
import logging
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import anyio
from sqlalchemy.exc import DBAPIError

from callwright.service.platform.database.unavailable import StorageUnavailable

log = logging.getLogger(__name__)
REASON = "storage_full"
"""Why a deployment is paused that was active when the disk was found full."""
SAID_EVERY_S = 60.0
LEAST_FREE = 1_000_000
"""Bytes: with less, an SQLite database cannot be counted on to take the next write."""
DRIVER_ERRORS = (sqlite3.Error, DBAPIError)
_POSTGRES_DISK_FULL = "53100"
_MAY_BE_FULL = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
"""What SQLite says where one of the files beside the database finds no room, among other things."""


class StorageFull(StorageUnavailable):
    """There is no room on the disk of the database; nothing of the unit of work was kept."""

    def __init__(self) -> None:
        super().__init__("the disk of the database is full: nothing can be stored, and nothing was changed")


class Fullness:
    """Whether the disk was found full, for one process. It belongs to the event loop."""

    def __init__(self, folder: Path | None, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._monotonic = monotonic
        self._found = anyio.Event()
        self._said_at: float | None = None
        self.refused = 0
        """Units of work that found no room since it began."""

    @property
    def is_full(self) -> bool:
        """Whether a write has found no room and it is not over yet."""
        return self._found.is_set()

    def check(self, error: Exception) -> None:
        """Looks at what an engine has raised. Raises `StorageFull` in its place where that is the reason."""
        if not self._is_reason(error):
            return
        self._found.set()
        self.refused += 1
        now = self._monotonic()
        if self._said_at is None or now - self._said_at >= SAID_EVERY_S:
            self._said_at = now
            log.error("the disk of the database is full: nothing is stored or dialled (%s writes)", self.refused)
        raise StorageFull from error

    def over(self) -> None:
        """There is room again."""
        if self.is_full:
            log.warning("the disk of the database has room again (%s writes had failed)", self.refused)
        self._found, self._said_at, self.refused = anyio.Event(), None, 0

    async def found(self) -> None:
        """Waits until the disk is found full."""
        await self._found.wait()

    def free_bytes(self) -> int | None:
        """What is free beside an SQLite database; None on Postgres, whose disk may be anywhere."""
        return None if self._folder is None else free_bytes(self._folder)

    def _is_reason(self, error: Exception) -> bool:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if isinstance(cause, sqlite3.Error):
            code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_FULL:
                return True
            free = self.free_bytes()
            return code in _MAY_BE_FULL and free is not None and free < LEAST_FREE
        return getattr(cause, "sqlstate", None) == _POSTGRES_DISK_FULL


def free_bytes(folder: Path) -> int | None:
    """What is free in a folder for whoever runs this; None where that cannot be told."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def has_no_room(error: Exception) -> bool:
    """Whether a file could not be written since the disk, or what this person may use of it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
