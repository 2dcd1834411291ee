"""Engines as both programs need them: WAL and durable commits on SQLite, connections that live on Postgres."""

import sqlite3
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import QueuePool

from .error_text import hide_values

READERS = 4
"""Threads that read; more only take the interpreter lock from one another."""
POSTGRES_CONNECTIONS = 6
"""Connections to Postgres for what runs in threads; as many threads read and write."""
IDLE_S = 5.0
"""A connection to Postgres that nobody used for so long is tried before it is used again."""
SQLITE_WAITS_S = 30
"""How long a thread waits for another process that writes into the same file."""
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "cache_size=-65536")


class DatabaseClosed(RuntimeError):
    """The database was closed while a unit of work waited for it."""


def make_engine(url: str, *, writer: bool = False, begins: bool = True) -> Engine:
    """An engine as both programs need it: WAL, durable commits, foreign keys, writes that lock at once.

    On SQLite, without `begins` whoever uses it begins and ends transactions on the driver.

    Its errors never show the values of a statement: they may be phone numbers, and errors are logged.
    """
    if make_url(url).get_backend_name() == "sqlite":
        file = make_url(url).database or ""
        engine = create_engine(
            url,
            poolclass=QueuePool,
            pool_size=1 if writer else READERS,
            max_overflow=0,
            hide_parameters=True,
            creator=lambda: _sqlite(file, reads=not writer),
        )

        def on_checkout(connection: Any, record: Any, _: Any) -> None:
            if isinstance(connection, FrozenConnection):
                if record.info.get("was_used"):
                    raise DisconnectionError("by now there may be room for the files beside the database")
                record.info["was_used"] = True

        def on_begin(connection: Connection) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writer else "BEGIN")

        event.listen(engine, "checkout", on_checkout)
        if begins:
            event.listen(engine, "begin", on_begin)
        return engine
    made = create_engine(url, pool_size=POSTGRES_CONNECTIONS, max_overflow=0, hide_parameters=True)
    hide_values(made)
    _try_idle_connections(made)
    return made


class FrozenConnection(sqlite3.Connection):
    """A connection that reads an SQLite file as it stands. It is for one unit of work, then others may have written."""


def _sqlite(file: str, *, reads: bool) -> sqlite3.Connection:
    """A connection that leaves transactions to whoever uses it.

    Beside a database that was closed in good order, SQLite has to make two files before anybody reads. Where there is
    no room for them, nobody can write either, and the file alone is all there is.
    """
    connection = sqlite3.connect(file, timeout=SQLITE_WAITS_S, isolation_level=None, check_same_thread=False)
    try:
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}").close()
    except sqlite3.OperationalError as error:
        connection.close()
        log = Path(f"{file}-wal")
        is_whole = Path(file).is_file() and not (log.exists() and log.stat().st_size)
        if not reads or not is_whole or getattr(error, "sqlite_errorcode", 0) & 0xFF not in _NO_ROOM:
            raise
        return sqlite3.connect(
            f"file:{quote(file)}?mode=ro&immutable=1",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            factory=FrozenConnection,
        )
    return connection


def _try_idle_connections(engine: Engine) -> None:
    """Replaces connections that broke while nobody used them. Trying each one at each use takes as long as a query."""

    def on_checkin(_: Any, record: Any) -> None:
        record.info["used_at"] = time.monotonic()

    def on_checkout(connection: Any, record: Any, _: Any) -> None:
        if time.monotonic() - record.info.get("used_at", time.monotonic()) > IDLE_S:
            try:
                connection.execute("SELECT 1")
                connection.rollback()
            except engine.dialect.loaded_dbapi.Error as error:
                raise DisconnectionError("the connection broke while it was idle") from error

    event.listen(engine, "checkin", on_checkin)
    event.listen(engine, "checkout", on_checkout)
