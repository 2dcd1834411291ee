"""Statements that every request runs, compiled once and passed to the driver as text.

SQLAlchemy builds and compiles the statement; running it through SQLAlchemy takes several times as long as the engine
takes to answer. Statements that run rarely do not need this.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn, cast

from sqlalchemy import AdaptedConnection, Connection, Dialect, Executable, Insert, TextClause, Update
from sqlalchemy.exc import DBAPIError, IntegrityError

from callwright.service.platform.database.error_text import without_values

_INTEGRITY = "23"
"""The class of SQLSTATE for violations of indexes and constraints."""
_Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Text:
    """A compiled statement in the form that a driver takes."""

    sql: str
    positions: tuple[str, ...] | None
    """The names in the order of the placeholders; None if the driver takes names."""
    constants: Mapping[str, Any]
    given: Sequence[tuple[str, _Convert]]
    """Parameters that have to be converted for the driver."""
    row: Callable[[Sequence[Any]], Any]

    def values(self, params: Mapping[str, Any]) -> Any:
        values: Any = {**self.constants, **params}
        for name, convert in self.given:
            values[name] = convert(values[name])
        return values if self.positions is None else [values[name] for name in self.positions]

    def many(self, rows: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
        """The values of rows that have the same names."""
        if self.constants or self.positions is None or len(self.positions) == 1:
            return [self.values(row) for row in rows]
        values_of = cast("Callable[[Mapping[str, Any]], Sequence[Any]]", itemgetter(*self.positions))
        values = list(map(values_of, rows))
        if not self.given:
            return values
        places = [(place, convert) for name, convert in self.given for place in self._places(name)]
        converted: list[list[Any]] = list(map(list, values))
        for row in converted:
            for place, convert in places:
                row[place] = convert(row[place])
        return converted

    def _places(self, name: str) -> list[int]:
        return [place for place, other in enumerate(self.positions or ()) if other == name]


class Prepared:
    """A statement that runs often. Its parameters are `bindparam`s, or the columns of an insert.

    Lists of values in one parameter (`expanding`) are not possible.
    """

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._texts: dict[tuple[str, bool, bool, tuple[str, ...]], Text] = {}

    def first(self, connection: Connection, params: Mapping[str, Any]) -> Any:
        """The first row, with its columns as attributes; None if there is none."""
        text = self._text(connection, params)
        found = self.executed(connection, text, params).fetchone()
        return None if found is None else text.row(found)

    def all(self, connection: Connection, params: Mapping[str, Any]) -> list[Any]:
        """Every row, with its columns as attributes."""
        text = self._text(connection, params)
        return [text.row(found) for found in self.executed(connection, text, params).fetchall()]

    def run(self, connection: Connection, params: Mapping[str, Any]) -> int:
        """Runs it and returns how many rows it changed."""
        return self.executed(
            connection, self._text(connection, params, returns_rows=False), params, returns_rows=False
        ).rowcount

    def run_many(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Runs an insert or an update once for each of the rows, which have the same names.

        What an update sets is either said in the statement, or it is the columns that the rows name.
        """
        if not rows:
            return
        if connection.dialect.name != "sqlite":
            connection.execute(self._statement, list(rows))
            return
        text = self._text(connection, rows[0], returns_rows=False)
        driver: Any = connection.connection.dbapi_connection
        try:
            driver.executemany(text.sql, text.many(rows))
        except Exception as error:
            _reraise(connection, text.sql, error)

    def _text(self, connection: Connection, params: Mapping[str, Any], *, returns_rows: bool = True) -> Text:
        place = (connection.dialect.name, connection.dialect.is_async, returns_rows, tuple(params))
        text = self._texts.get(place)
        if text is None:
            text = self._texts[place] = _compiled(self._statement, connection.dialect, tuple(params), returns_rows)
        return text

    def executed(
        self, connection: Connection, text: Text, params: Mapping[str, Any], *, returns_rows: bool = True
    ) -> Any:
        """The driver's cursor after the statement, which `first`, `all` and `run` read."""
        return run_text(connection, text.sql, text.values(params), returns_rows=returns_rows)


def run_text(connection: Connection, sql: str, values: Any = (), *, returns_rows: bool = False) -> Any:
    """Passes a statement to the driver as it is. Returns the driver's cursor, or an object that is read like one.

    On the event loop, the result has rows if `returns_rows` is set, else the number of rows that were changed.
    """
    driver: Any = connection.connection.dbapi_connection
    try:
        if isinstance(driver, AdaptedConnection):
            return driver.run_async(lambda beneath: _run_on_loop(beneath, sql, values, returns_rows))
        return driver.execute(sql, values)
    except Exception as error:
        _reraise(connection, sql, error)


def driver_of(connection: Connection) -> Any:
    """The connection of asyncpg under an SQLAlchemy connection of the event loop."""
    return cast("Any", connection.connection.dbapi_connection).driver_connection


async def _run_on_loop(driver: Any, sql: str, values: Any, returns_rows: bool) -> "_LoopCursor":
    if returns_rows:
        return _LoopCursor(await driver.fetch(sql, *values))
    return _LoopCursor([], await driver.execute(sql, *values))


class _LoopCursor(NamedTuple):
    """The result of a statement on the event loop, read like a cursor."""

    rows: list[Any]
    status: str = ""
    """What the server reports as done, such as `UPDATE 3`."""

    @property
    def rowcount(self) -> int:
        return int(self.status.rpartition(" ")[2])

    def fetchone(self) -> Any:
        return self.rows[0] if self.rows else None

    def fetchall(self) -> list[Any]:
        return self.rows


def _reraise(connection: Connection, sql: str, error: Exception) -> NoReturn:
    """Raises a driver's error in the form of SQLAlchemy, without values: they may be phone numbers.

    A connection that the error has broken is not used again.
    """
    dialect = connection.dialect
    base: Any = getattr(dialect.loaded_dbapi, "Error")  # noqa: B009  # pyright knows no names of drivers
    if dialect.is_async:
        from asyncpg import InterfaceError, PostgresError  # only here, since that would delay a start on SQLite

        base = (PostgresError, InterfaceError, OSError)
    if not isinstance(error, base):
        raise error
    is_lost = dialect.is_disconnect(cast("Any", error), connection.connection.dbapi_connection, None)
    without_values(error)
    if is_lost:
        connection.invalidate(error)
    if dialect.is_async:
        kind = IntegrityError if str(getattr(error, "sqlstate", "")).startswith(_INTEGRITY) else DBAPIError
        raise kind(sql, None, error, hide_parameters=True, connection_invalidated=is_lost) from error
    raise DBAPIError.instance(
        sql, None, error, base, hide_parameters=True, connection_invalidated=is_lost, dialect=dialect
    ) from error


def _compiled(statement: Any, dialect: Dialect, names: tuple[str, ...], returns_rows: bool) -> Text:
    keys = list(names) if isinstance(statement, Insert | Update) else None
    compiled: Any = statement.compile(dialect=dialect, column_keys=keys)
    if compiled.post_compile_params or getattr(compiled, "insert_prefetch", ()):
        raise TypeError("lists of values, and defaults made by Python, cannot be prepared")
    convert: list[tuple[str, _Convert]] = []
    for name, bound in compiled.binds.items():
        processor = bound.type.dialect_impl(dialect).bind_processor(dialect)
        if processor is not None:
            convert.append((name, processor))
    positions = tuple(compiled.positiontup) if compiled.positional else None
    constants = {name: value for name, value in compiled.params.items() if name not in names}
    row = _row_maker(statement, dialect) if returns_rows else tuple
    return Text(compiled.string, positions, constants, convert, row)


def _row_maker(statement: Any, dialect: Dialect) -> Callable[[Sequence[Any]], Any]:
    columns: list[Any] = [] if isinstance(statement, TextClause) else list(statement.exported_columns)
    if not columns:
        return tuple
    fields = [(column.key, Any) for column in columns]
    make: Any = cast("Any", NamedTuple)("Row", fields)._make  # pyright knows only literal field names
    processors: list[tuple[int, _Convert]] = []
    for index, column in enumerate(columns):
        processor = column.type.dialect_impl(dialect).result_processor(dialect, None)
        if processor is not None:
            processors.append((index, processor))
    if not processors:
        return make

    def converted(found: Sequence[Any]) -> Any:
        values = list(found)
        for index, processor in processors:
            values[index] = processor(values[index])
        return make(values)

    return converted
