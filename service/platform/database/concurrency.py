"""Differences between a database with one writer at a time (SQLite) and one with many (Postgres)."""

from sqlalchemy import BigInteger, ColumnElement, Connection, bindparam, cast, func, literal, select, text

_WAIT = select(func.pg_advisory_xact_lock(bindparam("number")))
_WITHOUT_LIMITS = text("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")


def moment_of(connection: Connection, now_ms: int) -> ColumnElement[int]:
    """The present time in milliseconds, for leases: by the database's clock if the clocks of processes may differ."""
    if is_only_writer(connection):
        return literal(now_ms, BigInteger)
    return cast(func.extract("epoch", func.clock_timestamp()) * 1_000, BigInteger)


def is_only_writer(connection: Connection) -> bool:
    """Whether a transaction that has written is the only writer until it ends. If not, others may have locked rows."""
    return connection.dialect.name == "sqlite"


def take_advisory_lock(connection: Connection, number: int, *, without_limits: bool = False) -> None:
    """Takes a lock with this number until the transaction ends; others that ask for the same number wait.

    A database with one writer needs none. With `without_limits` neither this wait nor what the transaction does
    afterwards has a time limit.
    """
    if is_only_writer(connection):
        return
    if without_limits:
        connection.execute(_WITHOUT_LIMITS)
    connection.execute(_WAIT, {"number": number})
