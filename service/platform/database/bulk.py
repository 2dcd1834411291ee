"""Statements about many rows at once, compiled once and passed to the driver as text.

Running a statement for each row costs more than the rows themselves: SQLite releases the interpreter lock at every
step, and other threads take it meanwhile. Ids are one parameter, which both engines unpack. Rows are separate values
on SQLite, where unpacking JSON is five times as slow, and one JSON value on Postgres.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Any

import orjson
from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Executable,
    String,
    Table,
    TableValuedAlias,
    bindparam,
    cast,
    column,
    func,
    literal_column,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from callwright.service.platform.database.prepared import Prepared

MOST_AT_ONCE = 64
"""Rows that one statement inserts on SQLite; a power of two, so that few different statements are needed."""
_MANY = "b_many"
_BETWEEN, _NULL = "\x1f", "\x1e"
"""The signs between values of a column, and for null."""


def selects_from_updates(connection: Connection) -> bool:
    """Whether one statement can change rows and select from what it changed, with what is joined to it."""
    return connection.dialect.name != "sqlite"


@dataclass(frozen=True)
class ForIds:
    """A statement about the rows with certain ids, in the form of each engine."""

    sqlite: Prepared
    postgres: Prepared
    takes_json: bool = False
    """Whether Postgres is given the ids as JSON too, which costs less than an array where there are many."""

    def run(self, connection: Connection, ids: Sequence[str], given: Mapping[str, Any] | None = None) -> int:
        """Runs it and returns how many rows it changed; `given` holds its other parameters."""
        statement, params = self._with(connection, ids, given)
        return statement.run(connection, params)

    def all(self, connection: Connection, ids: Sequence[str], given: Mapping[str, Any] | None = None) -> list[Any]:
        statement, params = self._with(connection, ids, given)
        return statement.all(connection, params)

    def _with(
        self, connection: Connection, ids: Sequence[str], given: Mapping[str, Any] | None
    ) -> tuple[Prepared, dict[str, Any]]:
        is_sqlite = connection.dialect.name == "sqlite"
        many = orjson.dumps(ids).decode() if is_sqlite or self.takes_json else list(ids)
        return self.sqlite if is_sqlite else self.postgres, {_MANY: many, **(given or {})}


def for_ids(of: ColumnElement[str], build: Callable[[ColumnElement[bool]], Executable]) -> ForIds:
    """A statement about the rows whose `of` is one of many ids. `build` makes it from that condition."""
    each = func.json_each(bindparam(_MANY, type_=String)).table_valued(column("value", String))
    return ForIds(
        Prepared(build(of.in_(select(each.c.value)))),
        Prepared(build(of == func.any(bindparam(_MANY, type_=ARRAY(String))))),
    )


def misjudges_new_tables(connection: Connection) -> bool:
    """Whether the engine chooses indexes by counts, which are wrong for a table that has just been filled."""
    return connection.dialect.name != "sqlite"


def plan_anew(connection: Connection) -> None:
    """Has Postgres plan the further statements of a transaction by the sizes that tables have now.

    A plan that it keeps from when a table was nearly empty reads all of the table at each look-up.
    """
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("SET LOCAL plan_cache_mode = force_custom_plan")


def for_each(build: Callable[[ColumnElement[str], bool], Executable]) -> ForIds:
    """A statement that asks something of each of many values. `build` makes it from a value, and from whether it is
    for Postgres, which may have to be told by which index to look.
    """
    each = func.json_each(bindparam(_MANY, type_=String)).table_valued(column("value", String))
    given = func.json_array_elements_text(cast(bindparam(_MANY, type_=String), JSON))
    many = given.table_valued(column("value", String)).render_derived()
    return ForIds(Prepared(build(each.c.value, False)), Prepared(build(many.c.value, True)), takes_json=True)


class BulkInsert:
    """Inserts rows with certain columns, whose values are text, integers and null.

    With `skips`, rows that would violate a unique index are left out.
    """

    def __init__(self, table: Table, names: Sequence[str], *, skips: bool = False) -> None:
        self._table, self._skips = table, skips
        self._columns: list[Column[Any]] = [one for one in table.columns if one.name in names]
        self._names = [one.name for one in self._columns]
        self._text = cache(self._text_of)
        self._postgres = Prepared(self._from_json())
        self._from_lists = Prepared(self._from_texts())

    def run(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> int:
        """Inserts rows, given as mappings with exactly these columns. Returns how many were not left out."""
        if connection.dialect.name != "sqlite":
            return self._postgres.run(connection, {_MANY: orjson.dumps(rows).decode()})
        return self._insert(connection, [[row[name] for name in self._names] for row in rows])

    def run_values(self, connection: Connection, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> int:
        """Inserts rows, given as the values of these columns, two or more. Returns how many were not left out."""
        if connection.dialect.name == "sqlite":
            return self._insert(connection, list(map(itemgetter(*map(list(names).index, self._names)), rows)))
        columns = dict(zip(names, zip(*rows, strict=True), strict=True))
        lists = {name: _listed(columns[name]) for name in self._names}
        if None not in lists.values():
            return self._from_lists.run(connection, lists)
        given = [dict(zip(names, row, strict=True)) for row in rows]
        return self._postgres.run(connection, {_MANY: orjson.dumps(given).decode()})

    def _insert(self, connection: Connection, rows: Sequence[Sequence[Any]]) -> int:
        begin, size, added = 0, MOST_AT_ONCE, 0
        while begin < len(rows):
            while size > len(rows) - begin:
                size //= 2
            values = tuple(chain.from_iterable(rows[begin : begin + size]))
            added += connection.exec_driver_sql(self._text(connection.dialect, size), values).rowcount
            begin += size
        return added

    def _text_of(self, dialect: Dialect, size: int) -> str:
        statement = sqlite_insert(self._table).on_conflict_do_nothing() if self._skips else sqlite_insert(self._table)
        compiled: Any = statement.compile(dialect=dialect, column_keys=self._names)
        places = f"({', '.join('?' * len(self._names))})"
        if compiled.positiontup != self._names or compiled.string.count(places) != 1:
            raise TypeError("the values of an insert do not stand in the order of its columns")
        return compiled.string.replace(places, ", ".join([places] * size))

    def _from_json(self) -> Executable:
        rows = func.json_to_recordset(cast(bindparam(_MANY, type_=String), JSON)).table_valued(
            *(column(one.name, one.type) for one in self._columns), name="given"
        )
        return self._from_rows(rows.render_derived(with_types=True))

    def _from_texts(self) -> Executable:
        signs = [func.chr(literal_column(str(ord(sign)))) for sign in (_BETWEEN, _NULL)]
        texts = {one: func.string_to_array(bindparam(one.name, type_=String), *signs) for one in self._columns}
        # Not to the type of a text: a cast would cut what is too long, and the insert refuses it.
        lists = [text if isinstance(one.type, String) else cast(text, ARRAY(one.type)) for one, text in texts.items()]
        given = func.unnest(*lists).table_valued(*self._names, name="given")
        return self._from_rows(given.render_derived())

    def _from_rows(self, given: TableValuedAlias) -> Executable:
        statement = postgres_insert(self._table).from_select(
            self._names, select(*(given.c[name] for name in self._names))
        )
        return statement.on_conflict_do_nothing() if self._skips else statement


def _listed(values: Sequence[str | int | None]) -> str | None:
    """The values of a column as one text, which Postgres takes apart in half of the time of JSON. None where a value
    has one of the two signs, or where there is one value alone, which may be an empty text.
    """
    texts = [_NULL if value is None else str(value) for value in values]
    text = _BETWEEN.join(texts)
    is_clear = text.count(_BETWEEN) == len(texts) - 1 > 0 and text.count(_NULL) == values.count(None)
    return text if is_clear else None
