"""Inserting rows that may be there already, in one form for both engines."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Row, Table
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from callwright.service.platform.database.prepared import Prepared

INSERTS = {"sqlite": sqlite_insert, "postgresql": postgres_insert}
"""The `insert` function that supports ON CONFLICT, by the name of the dialect."""


def insert_ignoring_conflicts(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> set[Any]:
    """Inserts rows, except those that would violate a unique index; returns the primary keys of the inserted ones.

    A key of one column is its value, else a tuple.
    """
    if not rows:
        return set()
    key = tuple(table.primary_key.columns)
    statement = INSERTS[connection.dialect.name](table).on_conflict_do_nothing().returning(*key)
    found = connection.execute(statement, rows if len(rows) > 1 else rows[0])
    return set(found.scalars() if len(key) == 1 else map(tuple, found))


def upsert(
    connection: Connection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    *,
    unique: Sequence[Column[Any]],
    replaces: Sequence[str],
    where: ColumnElement[bool] | None = None,
    returning: Sequence[Column[Any]],
) -> Sequence[Row[Any]]:
    """Inserts rows. If a row with the same `unique` exists and `where` holds for it, sets its columns `replaces`.

    Returns the columns `returning` of the rows that were inserted or changed.
    """
    added: Any = INSERTS[connection.dialect.name](table)
    values = {name: added.excluded[name] for name in replaces}
    statement = added.on_conflict_do_update(index_elements=list(unique), set_=values, where=where)
    return connection.execute(statement.returning(*returning), rows).all()


class PreparedAddition:
    """Adds to the column `adds` of rows with the same `unique`, and makes those that are missing. Compiled once."""

    def __init__(self, table: Table, unique: Sequence[Column[Any]], adds: Column[Any]) -> None:
        self._by_dialect = {
            name: Prepared(self._added(insert(table), unique, adds)) for name, insert in INSERTS.items()
        }

    @staticmethod
    def _added(added: Any, unique: Sequence[Column[Any]], adds: Column[Any]) -> Any:
        more = {adds.name: adds + added.excluded[adds.name]}
        return added.on_conflict_do_update(index_elements=list(unique), set_=more)

    def run_many(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Adds what each row has."""
        self._by_dialect[connection.dialect.name].run_many(connection, rows)


class PreparedInsert:
    """Inserts one row unless one with the same `unique` exists. Compiled once, for statements that run often."""

    def __init__(self, table: Table, unique: Sequence[Column[Any]]) -> None:
        self._by_dialect = {
            name: Prepared(insert(table).on_conflict_do_nothing(index_elements=unique).returning(table))
            for name, insert in INSERTS.items()
        }

    def first(self, connection: Connection, row: Mapping[str, Any]) -> Any:
        """The row as it was stored; None if one exists already."""
        return self._by_dialect[connection.dialect.name].first(connection, row)
