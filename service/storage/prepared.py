"""Statements that every request runs, handed to the driver as text that was made once.

SQLAlchemy builds and compiles the statement; running it through SQLAlchemy takes several times as long as the engine
takes to answer. What runs once in a while does not need this.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, cast

from sqlalchemy import Connection, Dialect, Executable, Insert, TextClause
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.exc import DBAPIError

from .error_text import without_values

_NUMBERED = PGDialect_psycopg(paramstyle="numeric_dollar")
"""Writes places as libpq reads them."""
_Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Text:
    """A statement as a driver takes it."""

    sql: str
    positions: tuple[str, ...] | None
    """The names in the order of the places; None where the driver takes names."""
    constants: Mapping[str, Any]
    given: Sequence[tuple[str, _Convert]]
    """Parameters that the driver cannot take as they are."""
    row: Callable[[Sequence[Any]], Any]
    wired: bytes | None = None
    """The statement for `wire.py`, on a connection of the event loop."""

    def values(self, params: Mapping[str, Any]) -> Any:
        """The values as the driver wants them."""
        values: Any = {**self.constants, **params}
        for name, convert in self.given:
            values[name] = convert(values[name])
        return values if self.positions is None else [values[name] for name in self.positions]


class Prepared:
    """A statement that runs often. Its parameters are `bindparam`s, or the columns of an insert.

    Lists of values in one parameter (`expanding`) are not possible.
    """

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._texts: dict[tuple[str, bool, bool, tuple[str, ...]], Text] = {}

    def first(self, connection: Connection, params: Mapping[str, Any]) -> Any:
        """The first row, with its columns as attributes; None where there is none."""
        text = self._text(connection, params)
        found = self.executed(connection, text, params).fetchone()
        return None if found is None else text.row(found)

    def all(self, connection: Connection, params: Mapping[str, Any]) -> list[Any]:
        """Every row, with its columns as attributes."""
        text = self._text(connection, params)
        return [text.row(found) for found in self.executed(connection, text, params).fetchall()]

    def run(self, connection: Connection, params: Mapping[str, Any]) -> int:
        """Runs it and returns how many rows it changed."""
        return self.executed(connection, self._text(connection, params, gives=False), params).rowcount

    def run_later(self, connection: Connection, params: Mapping[str, Any]) -> None:
        """Runs it at the latest with the next statement of the unit of work, which may then raise for it.

        For what changes rows and gives nothing: each wait for Postgres costs as much as a statement.
        """
        text = self._text(connection, params, gives=False)
        if text.wired is None:
            self.executed(connection, text, params)
            return
        with as_raised(connection, text.sql):
            wire_of(connection).later(text.wired, text.values(params))

    def _text(self, connection: Connection, params: Mapping[str, Any], *, gives: bool = True) -> Text:
        place = (connection.dialect.name, connection.dialect.is_async, gives, tuple(params))
        text = self._texts.get(place)
        if text is None:
            text = self._texts[place] = _compiled(self._statement, connection.dialect, tuple(params), gives)
        return text

    def executed(self, connection: Connection, text: "Text", params: Mapping[str, Any]) -> Any:
        """The driver's cursor after the statement, which `first`, `all` and `run` read."""
        try:
            if text.wired is not None:
                return wire_of(connection).perform(text.wired, text.values(params))
            driver: Any = connection.connection.dbapi_connection
            return driver.execute(text.sql, text.values(params))
        except Exception as error:
            _reraise(connection.dialect, text.sql, error)


def wire_of(connection: Connection) -> Any:
    """What runs statements on a connection of the event loop (`wire.Wire`)."""
    return cast("Any", connection.connection.dbapi_connection).driver_connection.wire


@contextmanager
def as_raised(connection: Connection, sql: str) -> Generator[None]:
    """Raises what the driver raises inside as SQLAlchemy does."""
    try:
        yield
    except Exception as error:
        _reraise(connection.dialect, sql, error)


def _reraise(dialect: Dialect, sql: str, error: Exception) -> NoReturn:
    """As SQLAlchemy raises what a driver says, without the values: they may be phone numbers, and errors are logged."""
    base: type[Exception] = getattr(dialect.loaded_dbapi, "Error")  # noqa: B009  # pyright knows no names of drivers
    if not isinstance(error, base):
        raise error
    without_values(error)
    raise DBAPIError.instance(sql, None, error, base, hide_parameters=True, dialect=dialect) from error


def _compiled(statement: Any, dialect: Dialect, names: tuple[str, ...], gives: bool) -> Text:
    keys = list(names) if isinstance(statement, Insert) else None
    compiled: Any = statement.compile(dialect=_NUMBERED if dialect.is_async else dialect, column_keys=keys)
    if compiled.post_compile_params or getattr(compiled, "insert_prefetch", ()):
        raise TypeError("lists of values, and defaults made by Python, cannot be prepared")
    convert: list[tuple[str, _Convert]] = []
    for name, bound in compiled.binds.items():
        processor = bound.type.dialect_impl(dialect).bind_processor(dialect)
        if processor is not None:
            convert.append((name, processor))
    positions = tuple(compiled.positiontup) if compiled.positional else None
    constants = {name: value for name, value in compiled.params.items() if name not in names}
    row = _row_maker(statement, dialect) if gives else tuple
    return Text(
        compiled.string, positions, constants, convert, row, compiled.string.encode() if dialect.is_async else None
    )


def _row_maker(statement: Any, dialect: Dialect) -> Callable[[Sequence[Any]], Any]:
    columns: list[Any] = [] if isinstance(statement, TextClause) else list(statement.exported_columns)
    if not columns:
        return tuple
    fields = [(column.key, Any) for column in columns]
    make: Any = cast("Any", NamedTuple)("Row", fields)._make  # pyright knows only names that stand in the text
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
