"""What is said to the database: the statements that run while a block lasts, on whatever connection."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, event

from callwright.service.platform.database.prepared import Prepared


@dataclass(frozen=True)
class Statement:
    """A statement as the driver gets it, and its values."""

    text: str
    values: Any

    def plan(self, connection: Connection, *, bitmaps: bool = False) -> str:
        """How the engine would carry it out, in its own words. Postgres is kept from reading a table whole.

        With `bitmaps` it may read indexes that have no order.
        """
        if connection.dialect.name == "sqlite":
            found = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {self.text}", self.values)
            return "\n".join(str(row[3]) for row in found)
        connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        if not bitmaps:
            connection.exec_driver_sql("SET LOCAL enable_bitmapscan = off")
        return "\n".join(str(row[0]) for row in connection.exec_driver_sql(f"EXPLAIN {self.text}", self.values))


@contextmanager
def recorded() -> Generator[list[Statement]]:
    """The statements that are run in the block, in their order."""
    found: list[Statement] = []

    def note(_: Any, __: Any, text: str, values: Any, *___: Any) -> None:
        found.append(Statement(text, values))

    def executed(self: Prepared, connection: Connection, text: Any, params: Any, *, returns_rows: bool = True) -> Any:
        found.append(Statement(text.sql, text.values(params)))
        return execute(self, connection, text, params, returns_rows=returns_rows)

    execute = Prepared.executed
    event.listen(Engine, "before_cursor_execute", note)
    Prepared.executed = executed
    try:
        yield found
    finally:
        Prepared.executed = execute
        event.remove(Engine, "before_cursor_execute", note)
