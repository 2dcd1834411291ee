"""Moves what SQLite has written into its log (`-wal`) into the database file, from time to time.

SQLite does that by default at a commit of any process. Here only one process does it, between commits: so it can tell
when another program has written into the file (`file_guard.py`), and no commit waits for it.

Source: SQLite, "Write-Ahead Logging", section 3.1 (a passive checkpoint waits for nobody), PRAGMA wal_checkpoint.
"""

import sqlite3
import threading
from contextlib import suppress

from sqlalchemy import Connection

from callwright.service.platform.database.sqlite.file_guard import DatabaseGone, FileGuard, FileLoss

PAGES = 1_000
"""About how many pages are in the log when it is moved; SQLite's own default."""
_FEWEST, _MOST = 20, 20_000
"""Changed rows between two checkpoints."""


class Checkpoints:
    """Decides when to move the log, and moves it. Only the thread that writes may use it."""

    def __init__(self, file_guard: FileGuard) -> None:
        self._file_guard = file_guard
        self._changes = 0
        self._between = 200

    def begin(self, connection: sqlite3.Connection) -> None:
        """Takes over checkpoints from SQLite, on the connection that writes."""
        connection.execute("SELECT 1 FROM sqlite_master").close()  # SQLite creates the files beside it
        self._file_guard.begin()

    def is_due(self, connection: sqlite3.Connection) -> bool:
        """Whether enough rows were changed since the last checkpoint, or the log was removed."""
        is_needed = self._file_guard.loss is FileLoss.LOG_MOVED
        return is_needed or connection.total_changes - self._changes >= self._between

    def move(self, connection: sqlite3.Connection) -> None:
        """Moves the log into the file, as far as nobody reads an older state. What fails is tried again later."""
        changes = connection.total_changes - self._changes
        with suppress(sqlite3.Error, DatabaseGone), self._file_guard.writing():
            _, pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            self._changes = connection.total_changes
            self._between = min(max(changes * PAGES // max(pages, 1), _FEWEST), _MOST)

    def leave_open(self, connection: Connection) -> bool:
        """Leaves a connection open until the process has ended if closing it would damage the file.

        SQLite moves the log into the file when the last connection is closed, whatever the file contains by then.
        """
        if self._file_guard.loss is not FileLoss.OVERWRITTEN:
            return False
        threading.Thread(target=_never_ends, args=(connection,), daemon=True, name="open database").start()
        return True


def _never_ends(_: Connection) -> None:
    """Keeps its argument alive: objects of a thread that never ends are not closed when the process ends."""
    threading.Event().wait()
