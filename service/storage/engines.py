"""Engines as both programs need them: WAL and durable commits on SQLite, connections that live on Postgres."""

import time
from typing import Any

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


class DatabaseClosed(RuntimeError):
    """The database was closed while a unit of work waited for it."""


def make_engine(url: str, *, writer: bool = False, begins: bool = True) -> Engine:
    """An engine as both programs need it: WAL, durable commits, foreign keys, writes that lock at once.

    On SQLite, without `begins` whoever uses it begins and ends transactions on the driver.

    Its errors never show the values of a statement: they may be phone numbers, and errors are logged.
    """
    if make_url(url).get_backend_name() == "sqlite":
        engine = create_engine(
            url,
            poolclass=QueuePool,
            pool_size=1 if writer else READERS,
            max_overflow=0,
            hide_parameters=True,
            connect_args={"check_same_thread": False, "timeout": SQLITE_WAITS_S},
        )

        def on_connect(connection: Any, _: Any) -> None:
            connection.isolation_level = None  # transactions are begun by the handler below
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "cache_size=-65536"):
                connection.execute(f"PRAGMA {pragma}").close()

        def on_begin(connection: Connection) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writer else "BEGIN")

        event.listen(engine, "connect", on_connect)
        if begins:
            event.listen(engine, "begin", on_begin)
        return engine
    made = create_engine(url, pool_size=POSTGRES_CONNECTIONS, max_overflow=0, hide_parameters=True)
    hide_values(made)
    _try_idle_connections(made)
    return made


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
