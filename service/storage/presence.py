"""Whether the file of an SQLite database is still the one that was opened.

A process that has a file open goes on writing into it when somebody removes it, moves its folder or puts another one in
its place; all of that is lost when the process ends. So each write is acknowledged only while the file is where it was.
A file that is written over in place keeps its identity, and is not noticed.
"""

import logging
import os
from pathlib import Path

from .fullness import StorageUnavailable

log = logging.getLogger(__name__)
LOOK_S = 1.0
"""Between two looks when nothing is written."""


class DatabaseGone(StorageUnavailable):
    """The file of the database was removed, moved or replaced while it was open."""

    def __init__(self, file: Path) -> None:
        self.file = file
        super().__init__(
            f"the database file {file} was removed, moved or replaced while the service ran: nothing is stored"
        )


class Presence:
    """Looks at the file that a database was opened from, or at nothing on Postgres. Some microseconds each time."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._opened = None if file is None else _identity(file)
        self.is_gone = False
        """Whether the last look found another file or none."""

    def look(self) -> bool:
        """Whether the file is where it was. It may come back."""
        if self._opened is None or self._file is None:
            return True
        gone = _identity(self._file) != self._opened
        if gone and not self.is_gone:
            log.error(
                "the database file was removed, moved or replaced: nothing is stored or dialled; stop the service"
            )
        elif self.is_gone and not gone:
            log.warning("the database file is back in its place")
        self.is_gone = gone
        return not gone

    def check(self) -> None:
        """Looks. Raises `DatabaseGone`."""
        if not self.look() and self._file is not None:
            raise DatabaseGone(self._file)


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_dev, found.st_ino
