"""Whether the file of an SQLite database is still the one that was opened, and nobody else has written into it.

A process that has a file open goes on writing into it when somebody removes it, moves its folder or puts another one in
its place; all of that is lost when the process ends. So each write is acknowledged only while the file is where it was,
and its log (`-wal`) with the index of that (`-shm`) too. A file that is written over in place keeps its identity; but
only the process that serves a folder moves the log into the file (`checkpoints.py`), so it knows when that was written.
"""

import logging
import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import cast

from sqlalchemy import Engine, event

from callwright.service.platform.database.sqlite.log_files import begins_as_log, identity, log_files, replaced_mark
from callwright.service.platform.database.unavailable import StorageUnavailable

log = logging.getLogger(__name__)
LOOK_S = 1.0
"""Seconds between two checks while nothing is written."""


class FileLoss(Enum):
    """What happened to the file, in words."""

    MOVED = "the database file was removed, moved or replaced"
    LOG_MOVED = "the log beside the database file (-wal or -shm) was removed or replaced"
    OVERWRITTEN = "another program wrote into the database file or its log"


_TO_DO = {
    FileLoss.MOVED: "stop the service, or put the file back",
    FileLoss.LOG_MOVED: "stop the service, which keeps what the log held, and start it again",
    FileLoss.OVERWRITTEN: "stop the service; the next start says what to do",
}


class DatabaseGone(StorageUnavailable):
    """The file of the database was removed, moved, replaced or written over while it was open."""

    def __init__(self, file: Path, loss: FileLoss) -> None:
        self.loss = loss
        super().__init__(f"{loss.value} while the service ran ({file}): nothing is stored")


_Seen = tuple[int, int, int, int]
"""The device and the inode of a file, when it was changed, and its size."""


class FileGuard:
    """Checks the file from which a database was opened, in some microseconds. Does nothing on Postgres."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._path = str(file)
        self._opened = None if file is None else _seen(self._path)
        self._log_files_opened: list[tuple[str, _Seen]] = []
        self._written: _Seen | None = None
        self._writings = 0
        self.loss: FileLoss | None = None
        """What the last check found; None if the file is in its place and unchanged by others."""

    @property
    def is_gone(self) -> bool:
        """Whether the last check found a loss."""
        return self.loss is not None

    def begin(self) -> None:
        """Remembers the files as they are while a connection is open, which keeps them there.

        From now on nobody but this process may write into the file itself.
        """
        if self._file is not None:
            found = ((path, _seen(path)) for path in map(str, log_files(self._file)))
            self._log_files_opened = [(path, seen) for path, seen in found if seen is not None]
            self._written = _seen(self._path)
            self._mark(None)

    def watch(self, engine: Engine) -> None:
        """Lets an engine make no connection to another file in this place, which it would keep once ours is back."""

        def on_connect(connection: sqlite3.Connection, _: object) -> None:
            try:
                self.check_place()
            except DatabaseGone:
                connection.close()
                raise

        event.listen(engine, "connect", on_connect)

    def check_place(self) -> None:
        """Raises `DatabaseGone` if the file is not where it was."""
        if self._file is not None and self._opened is not None and _is_another(_seen(self._path), self._opened):
            raise DatabaseGone(self._file, FileLoss.MOVED)

    @contextmanager
    def writing(self) -> Generator[None]:
        """Encloses writes of this process into the file itself. Raises `DatabaseGone` if it must not write.

        A log that was removed may still be moved into the file, because it is lost when the process ends.
        """
        if not self.look() and self.loss is not FileLoss.LOG_MOVED and self._file is not None:
            raise DatabaseGone(self._file, cast("FileLoss", self.loss))
        self._writings += 1
        try:
            yield
        finally:
            if self._written is not None and self._file is not None:
                self._written = _seen(self._path)
            self._writings += 1

    def look(self) -> bool:
        """Whether the files are where they were. A file may come back, but not one that was written over."""
        found = self._found()
        if found is not self.loss:
            if found is not None:
                log.error("%s: nothing is stored or dialled; %s", found.value, _TO_DO[found])
            else:
                log.warning("the database file is back in its place")
            self._mark(found)
        self.loss = found
        return found is None

    def _mark(self, loss: FileLoss | None) -> None:
        """Tells the next start whether the log that it finds belongs to another file."""
        if self._file is not None:
            with suppress(OSError):  # the folder may be gone too
                if loss is FileLoss.MOVED and self._opened is not None:
                    replaced_mark(self._file).write_text(identity(*self._opened[:2]), encoding="ascii")
                elif loss is FileLoss.OVERWRITTEN:
                    replaced_mark(self._file).write_text("", encoding="ascii")
                else:
                    replaced_mark(self._file).unlink(missing_ok=True)

    def check(self) -> None:
        """Looks. Raises `DatabaseGone`."""
        if not self.look() and self._file is not None:
            raise DatabaseGone(self._file, cast("FileLoss", self.loss))

    def _found(self) -> FileLoss | None:
        if self._file is None or self._opened is None or self.loss is FileLoss.OVERWRITTEN:
            return self.loss
        writings, now = self._writings, _seen(self._path)
        if now is None or _is_another(now, self._opened):
            return FileLoss.MOVED
        # Another thread may be writing. If the count is even and did not change, it is not.
        if self._written not in (None, now) and writings % 2 == 0 and writings == self._writings:
            return FileLoss.OVERWRITTEN
        for index, (path, opened) in enumerate(self._log_files_opened):
            there = _seen(path)
            if there is None or _is_another(there, opened):
                return FileLoss.LOG_MOVED
            if there[3] < opened[3]:  # SQLite never truncates it: it overwrites it from the start
                return FileLoss.OVERWRITTEN
            # A log that was cut is as long as before if a write was under way, but begins with a hole.
            if path.endswith("-wal") and there[3] and not begins_as_log(path):
                return FileLoss.OVERWRITTEN
            self._log_files_opened[index] = (path, there)
        return None


def _is_another(now: _Seen | None, opened: _Seen) -> bool:
    """Whether a file is no longer the one that was opened, by its device and inode."""
    return now is None or now[:2] != opened[:2]


def _seen(path: str) -> _Seen | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)
