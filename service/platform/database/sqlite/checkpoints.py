"""Moves what SQLite has written into its log (`-wal`) into the database file, from time to time.

SQLite does that by default at a commit of any process. Here only one process does it, between commits: so it can tell
when another program has written into the file (`file_guard.py`), and no commit waits for it. It has a connection of its
own, so that the next transactions run meanwhile. Then SQLite cannot begin the log anew, and it grows: once it is long,
what is left is moved while nothing is written.

Source: SQLite, "Write-Ahead Logging", section 3.1 (a passive checkpoint waits for nobody), PRAGMA wal_checkpoint.
"""

import sqlite3
import threading
from contextlib import suppress
from pathlib import Path
from typing import cast

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup
from sqlalchemy import Connection, Engine

from callwright.service.platform.database.sqlite.file_guard import DatabaseGone, FileGuard, FileLoss
from callwright.service.platform.database.sqlite.log_files import number_of_log

PAGES = 1_000
"""About how many pages are new in the log when they are moved; SQLite's own default."""
LONG_PAGES = 8_000
"""Pages of a log that is moved while nothing is written; some 32 MB."""
_FEWEST, _MOST = 20, 20_000
"""Changed rows between two checkpoints."""


class Checkpoints:
    """Decides when to move the log, and moves it. Only the one who writes may use it."""

    def __init__(self, file: Path, engine: Engine, file_guard: FileGuard) -> None:
        self._file, self._engine, self._file_guard = file, engine, file_guard
        self._own: Connection | None = None
        self._thread = anyio.CapacityLimiter(1)
        self._is_moving = False
        self._changes = 0
        self._between = 200
        self._log, self._pages = b"", 0
        """Which log was last moved, and how many pages were in it."""

    def begin(self, connection: Connection) -> None:
        """Takes over checkpoints from SQLite, on the connection that writes."""
        self._own = self._own or self._engine.connect()
        for one in (connection, self._own):
            driver_of(one).execute("PRAGMA wal_autocheckpoint = 0").close()
            driver_of(one).execute("SELECT 1 FROM sqlite_master").close()  # this opens or makes the files beside it
        self._file_guard.begin()

    async def move_if_due(self, connection: Connection, tasks: TaskGroup) -> None:
        """Moves the log if enough rows were changed on a connection since the last time, or if the log was removed: in
        a task, or before it returns where the log is long. Nothing may be written until it returns.
        """
        total = driver_of(connection).total_changes
        is_removed = self._file_guard.loss is FileLoss.LOG_MOVED
        if self._is_moving or (total - self._changes < self._between and not is_removed):
            return
        self._is_moving = True
        if is_removed or (self._pages >= LONG_PAGES and number_of_log(self._file) == self._log):
            await self._move(total)
        else:
            tasks.start_soon(self._move, total)

    async def _move(self, total: int) -> None:
        try:
            await to_thread.run_sync(self._move_here, total, limiter=self._thread)
        finally:
            self._is_moving = False

    def _move_here(self, total: int) -> None:
        """Moves the log into the file, as far as nobody reads an older state. What fails is tried again later."""
        assert self._own is not None
        with suppress(sqlite3.Error, DatabaseGone), self._file_guard.writing():
            _, pages, _ = driver_of(self._own).execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            new = pages if number_of_log(self._file) != self._log else pages - self._pages
            self._log, self._pages = number_of_log(self._file), pages
            self._between = min(max((total - self._changes) * PAGES // max(new, 1), _FEWEST), _MOST)
            self._changes = total

    def close(self, connection: Connection) -> None:
        """Closes a connection and its own. If that would damage the file, they stay open until the process has ended.

        SQLite moves the log into the file when the last connection is closed, whatever the file contains by then.
        """
        for one in (self._own, connection):
            if one is not None and self._file_guard.loss is not FileLoss.OVERWRITTEN:
                one.close()
            elif one is not None:
                threading.Thread(target=_never_ends, args=(one,), daemon=True, name="open database").start()


def driver_of(connection: Connection) -> sqlite3.Connection:
    """The driver's own connection."""
    return cast("sqlite3.Connection", connection.connection.dbapi_connection)


def _never_ends(_: Connection) -> None:
    """Keeps its argument alive: objects of a thread that never ends are not closed when the process ends."""
    threading.Event().wait()
