"""Whether the disk is full: how that is told from other failures, and who checks it.

Every write notices it. It is logged at once and then at most once a minute. The health check, the dialler and webhook
delivery check it here. It ends when a test write succeeds (`workers/storage_watch.py`): another write that succeeds
proves nothing, because some file may have had room left.
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
"""The pause reason of a deployment that was active when the disk was found full."""
SAID_EVERY_S = 60.0
LEAST_FREE = 1_000_000
"""Bytes. With less free space, the next write to an SQLite database may fail."""
DRIVER_ERRORS = (sqlite3.Error, DBAPIError)
_POSTGRES_DISK_FULL = "53100"
_MAY_BE_FULL = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
"""SQLite's codes if a file beside the database has no room. They have other causes too."""


class StorageFull(StorageUnavailable):
    """There is no room on the disk of the database; nothing of the unit of work was kept."""

    def __init__(self) -> None:
        super().__init__("the disk of the database is full: nothing can be stored, and nothing was changed")


class DiskSpace:
    """Whether the disk was found full, for one process. It belongs to the event loop."""

    def __init__(self, folder: Path | None, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._monotonic = monotonic
        self._found = anyio.Event()
        self._said_at: float | None = None
        self.refused = 0
        """Units of work that failed since the disk was found full."""

    @property
    def is_full(self) -> bool:
        """Whether a write has found no room, and `mark_freed` was not called since."""
        return self._found.is_set()

    def check(self, error: Exception) -> None:
        """Raises `StorageFull` in place of an engine's error if a full disk is the reason."""
        if not self._is_reason(error):
            return
        self._found.set()
        self.refused += 1
        now = self._monotonic()
        if self._said_at is None or now - self._said_at >= SAID_EVERY_S:
            self._said_at = now
            log.error("the disk of the database is full: nothing is stored or dialled (%s writes)", self.refused)
        raise StorageFull from error

    def mark_freed(self) -> None:
        """Records that there is room again."""
        if self.is_full:
            log.warning("the disk of the database has room again (%s writes had failed)", self.refused)
        self._found, self._said_at, self.refused = anyio.Event(), None, 0

    async def wait_until_full(self) -> None:
        """Waits until the disk is found full."""
        await self._found.wait()

    def free_bytes(self) -> int | None:
        """Free bytes on the disk of an SQLite database; None on Postgres, whose disk may be anywhere."""
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
    """Free bytes in a folder for the user of this process; None if they are not known."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def has_no_room(error: Exception) -> bool:
    """Whether a file could not be written because the disk or the user's quota is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
