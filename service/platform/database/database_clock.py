"""Moments of leases: by the clock of the database where several processes look at them, whose own clocks may differ."""

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, func, literal


def moment_of(connection: Connection, now_ms: int) -> ColumnElement[int]:
    """The present moment in milliseconds: the database's on Postgres, the service's on SQLite, which has one."""
    if connection.dialect.name == "postgresql":
        return cast(func.extract("epoch", func.clock_timestamp()) * 1_000, BigInteger)
    return literal(now_ms, BigInteger)
