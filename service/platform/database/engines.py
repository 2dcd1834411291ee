"""SQLAlchemy engines: WAL and durable commits on SQLite, tested connections on Postgres."""

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DisconnectionError, InvalidatePoolError
from sqlalchemy.pool import QueuePool

from callwright.service.platform.database.error_text import hide_values
from callwright.service.platform.database.postgres.time_limits import ThreadLimits
from callwright.service.platform.database.unavailable import DatabaseUnusable, StorageUnavailable

READERS = 4
"""Threads that read. More would only compete for the interpreter lock."""
WRITERS = 2
"""Connections that write on SQLite: one, and one that moves the log into the file."""
POSTGRES_CONNECTIONS = 6
"""Connections to Postgres for units of work in threads, and the number of these threads."""
PREEMPTING_CONNECTIONS = 2
"""Further connections, for units of work that end silent transactions in their way."""
POOL_WAITS_S = 15.0
"""How long a thread waits for a connection to Postgres. It has to wait only after connections were lost."""
IDLE_S = 5.0
"""A connection to Postgres that was idle for longer is tested before it is used again."""
SQLITE_WAITS_S = 30
"""How long a thread waits for another process that writes into the same file."""
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "cache_size=-65536")
APPLICATION = "callwright"
"""The application name of connections to Postgres, unless the address has another."""
_FORM = (
    "write it as postgresql://user:password@host:5432/name, and the signs @ : / ? # % in the user and the password as "
    "%40 %3A %2F %3F %23 %25"
)
BEGINS = "callwright_begins"
"""The execution option that says how a transaction begins on Postgres; None for statements committed one by one."""
_CONNECTIONS: dict[str, str | int] = {
    "application_name": APPLICATION,
    "connect_timeout": 5,
    "client_encoding": "utf8",
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""A connection is given up after about ten seconds without an answer. Source: libpq, "Parameter Key Words"."""


@dataclass(frozen=True)
class Limits:
    """How long a transaction on Postgres may keep others waiting, and wait for others. In milliseconds."""

    idle_ms: int = 10_000
    """How long a transaction may be open while its process sends nothing; then Postgres ends it and frees its locks.
    A process that was stopped or lost its network can block others for this long.
    """
    try_ms: int = 250
    """How long one attempt waits for a lock. Meanwhile it occupies a connection that others could use."""
    statement_ms: int = 15_000
    """How long one statement may take. If its client is gone, its locks are freed after this time."""
    lock_ms: int = 15_000
    """How long a unit of work waits for locks in total, mostly without a connection."""

    def _settings(self) -> Sequence[tuple[str, int]]:
        """Settings of Postgres. Behind a pooler each transaction sets them, because session settings do not last."""
        return (
            ("idle_in_transaction_session_timeout", self.idle_ms),
            ("lock_timeout", self.try_ms),
            ("statement_timeout", self.statement_ms),
        )

    def session(self) -> str:
        """The statements that set these limits for a whole session, for connections without a pooler."""
        settings = [("default_transaction_isolation", "'read committed'"), *self._settings()]
        return "; ".join(f"SET {name} = {value}" for name, value in settings)

    def begin(self, isolation: str = "READ COMMITTED") -> str:
        """The statements that begin a transaction under these limits, sent together."""
        limits = [f"SET LOCAL {name} = {value}" for name, value in self._settings()]
        return "; ".join([f"BEGIN ISOLATION LEVEL {isolation}", *limits])


class DatabaseClosed(StorageUnavailable):
    """The database was closed while a unit of work waited for it."""


class PassedOverFailure(RuntimeError):
    """A unit of work continued after a statement had failed, so Postgres keeps nothing of it."""

    def __init__(self) -> None:
        super().__init__("a statement of the unit of work had failed, and nothing of it was kept")


def _check_unbroken(connection: Connection) -> None:
    """Raises `PassedOverFailure` if a statement of the transaction on Postgres has failed: its commit undoes it."""
    driver: Any = connection.connection.dbapi_connection
    if driver.info.transaction_status.name == "INERROR":
        raise PassedOverFailure


def file_of(url: str) -> Path | None:
    """The file of an SQLite database, which belongs to one process; None for Postgres, which processes share."""
    return Path(make_url(url).database or "") if url.startswith("sqlite") else None


def check_encoding(connection: Connection) -> None:
    """Raises `DatabaseUnusable` for a database on Postgres that does not keep text as UTF-8."""
    if connection.dialect.name == "sqlite":
        return
    found = connection.execute(text("SHOW server_encoding")).scalar_one()
    if found != "UTF8":
        raise DatabaseUnusable(
            f"the database keeps text as {found} and has to keep it as UTF8: make one with CREATE DATABASE name "
            "ENCODING 'UTF8' TEMPLATE template0"
        )


def connection_parameters(url: str) -> dict[str, Any]:
    """The parameters of libpq for connections to Postgres: those of the address, and those that the service adds.

    Text is sent as UTF-8 whatever the address says, and of several hosts one that takes writes is used.

    Raises:
        DatabaseUnusable: the URL is not a valid address of Postgres.
    """
    from psycopg import ProgrammingError  # only here, since that would delay a start on SQLite
    from psycopg.conninfo import conninfo_to_dict

    address = f"postgresql://{url.partition('://')[2]}"
    try:
        said = conninfo_to_dict(address)
    except ProgrammingError as error:
        # libpq's words may repeat the address, or a part of it that may be the password.
        why = f" ({error})" if "query parameter" in str(error) else ""
        raise DatabaseUnusable(f"the address of the database cannot be read{why}: {_FORM}") from None
    if "@" in str(said.get("host", "")):
        raise DatabaseUnusable(f"the user or the password in the address of the database has an @ in it: {_FORM}")
    several: dict[str, Any] = {"target_session_attrs": "read-write"} if "," in str(said.get("host", "")) else {}
    return {**_CONNECTIONS, **several, **said, "client_encoding": _CONNECTIONS["client_encoding"]}


def make_engine(
    url: str,
    *,
    writer: bool = False,
    begins: bool = True,
    creates: bool = False,
    limits: Limits | None = None,
    times: ThreadLimits | None = None,
) -> Engine:
    """An SQLAlchemy engine. On SQLite: WAL, durable commits, foreign keys, writes that lock at once.

    On SQLite, without `begins` the caller begins and ends transactions on the driver, and only with `creates` a
    connection makes the file if there is none: otherwise it raises the driver's error. On Postgres transactions are
    under `limits`; without `limits` they may take any time, as a migration does. `times` cuts off what takes too long.

    Its errors never show the values of a statement: they may be phone numbers, and errors are logged.
    """
    if (file := file_of(url)) is not None:
        engine = create_engine(
            url,
            poolclass=QueuePool,
            pool_size=WRITERS if writer else READERS,
            max_overflow=0,
            hide_parameters=True,
            creator=lambda: _sqlite(str(file), reads=not writer, creates=creates),
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
    made = create_engine(
        "postgresql+psycopg://",
        pool_size=POSTGRES_CONNECTIONS + PREEMPTING_CONNECTIONS,
        max_overflow=0,
        pool_timeout=POOL_WAITS_S,
        hide_parameters=True,
        connect_args=connection_parameters(url),
        isolation_level="READ COMMITTED" if limits is None else "AUTOCOMMIT",  # then transactions are begun here
    )
    hide_values(made)
    if times is not None:
        times.watch(made)
    if limits is not None:
        plain = limits.begin()

        def on_begin_limited(connection: Connection) -> None:
            begin = connection.get_execution_options().get(BEGINS, plain)
            if begin is not None:
                connection.exec_driver_sql(begin)

        event.listen(made, "begin", on_begin_limited)
        event.listen(made, "commit", _check_unbroken)
    _prepare_nothing_behind_poolers(made)
    _try_doubtful_connections(made)
    return made


class FrozenConnection(sqlite3.Connection):
    """A read-only connection to an SQLite file as it is. It is for one unit of work: afterwards others may write."""


def _sqlite(file: str, *, reads: bool, creates: bool) -> sqlite3.Connection:
    """A connection that leaves transactions to its user.

    After a clean shutdown, SQLite has to create two files beside the database before anybody can read. If there is no
    room for them, nobody can write either, so the database file alone is complete.
    """
    connection = sqlite3.connect(
        f"file:{quote(file)}?mode={'rwc' if creates else 'rw'}",
        uri=True,
        timeout=SQLITE_WAITS_S,
        isolation_level=None,
        check_same_thread=False,
    )
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


def _prepare_nothing_behind_poolers(engine: Engine) -> None:
    """Turns off prepared statements on connections through a pooler such as pgbouncer.

    In transaction mode the next transaction may use another connection to the server, which does not have the prepared
    statements. A pooler is recognised by the process id that it reports, which is not the server's. Without a pooler,
    preparing saves the server two thirds of its work for a short statement.
    """

    def on_connect(connection: Any, _: Any) -> None:
        cursor = connection.cursor()
        cursor.execute("SELECT pg_backend_pid()")
        if cursor.fetchone() != (connection.info.backend_pid,):
            connection.prepare_threshold = None
        cursor.close()
        connection.rollback()

    event.listen(engine, "connect", on_connect)


def _try_doubtful_connections(engine: Engine) -> None:
    """Tests connections that may have broken before they are used; testing every one would cost a query each time.

    Tested are those that were idle for long, and those that were last used before another connection was lost.
    """
    lost_at = 0.0

    def on_checkin(_: Any, record: Any) -> None:
        record.info["used_at"] = time.monotonic()

    def on_checkout(connection: Any, record: Any, _: Any) -> None:
        now = time.monotonic()
        used_at = record.info.get("used_at", now)
        if now - used_at > IDLE_S or used_at <= lost_at:
            try:
                cursor = connection.cursor()
                cursor.execute("SELECT 1")
                cursor.close()
                connection.rollback()
            except engine.dialect.loaded_dbapi.Error as error:
                raise InvalidatePoolError("the connection broke while it was idle") from error

    def on_lost(*_: Any) -> None:
        nonlocal lost_at
        lost_at = time.monotonic()

    event.listen(engine, "checkin", on_checkin)
    event.listen(engine, "checkout", on_checkout)
    event.listen(engine, "invalidate", on_lost)
