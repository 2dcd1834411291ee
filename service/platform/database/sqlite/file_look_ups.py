"""Look-ups in an SQLite file, in the event loop's thread, on a connection of their own that stays open.

Transactions and connections of SQLAlchemy and its pool would take as long as the look-up itself.
"""

import sqlite3
from collections.abc import Callable
from typing import TypeVar, cast
from urllib.parse import quote

from sqlalchemy import Connection, make_url

from callwright.service.platform.database.engines import FrozenConnection, make_engine
from callwright.service.platform.database.sqlite.file_guard import DatabaseGone, FileGuard

T = TypeVar("T")


class FileLookUps:
    """Runs units of work that read a few rows by their keys. They never wait for a lock."""

    def __init__(self, url: str, file_guard: FileGuard) -> None:
        self._file_guard = file_guard
        self._engine = make_engine(url, begins=False)
        file_guard.watch(self._engine)
        self._connection: Connection | None = None
        self._file = quote(make_url(url).database or "")
        self._watching: sqlite3.Connection | None = None

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection. There is none at first, and after each look-up on a `FrozenConnection`."""
        return self._connection is not None

    def connect(self) -> None:
        """Makes a connection. Raises the driver's errors, and `DatabaseGone`."""
        self._connection = self._engine.connect()

    def run(self, work: Callable[[Connection], T]) -> T:
        """Runs a unit of work in a transaction that is rolled back. Call `connect` first."""
        connection = self._connection
        assert connection is not None
        driver = cast("sqlite3.Connection", connection.connection.dbapi_connection)
        driver.execute("BEGIN").close()
        try:
            return work(connection)
        finally:
            driver.rollback()
            if isinstance(driver, FrozenConnection):
                self._connection = None
                connection.close()

    def generation(self) -> int | None:
        """A number that changes whenever anybody commits; None if the file cannot be opened or is no database.

        Takes some microseconds. Only for the event loop's thread. Source: SQLite, PRAGMA data_version.
        """
        try:
            if self._watching is None:
                watching = sqlite3.connect(
                    f"file:{self._file}?mode=rw", uri=True, isolation_level=None, check_same_thread=False
                )
                try:
                    self._file_guard.check_place()
                except DatabaseGone:
                    watching.close()
                    return None
                self._watching = watching
            return int(self._watching.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.DatabaseError:  # it is gone or written over, or there is no room for the files beside it
            return None

    def close(self) -> None:
        if self._watching is not None:
            self._watching.close()
        if self._connection is not None:
            self._connection.close()
        self._engine.dispose()
