"""Columns and indexes that both engines read and sort in the same way."""

from typing import Any

from sqlalchemy import JSON, ColumnElement, FromClause, Index, Join, String, TextClause, cast, func, literal_column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.types import TypeEngine


class cell(GenericFunction[str]):  # named as the functions of SQL are
    """`cell(column, name)`: the text under a name in a JSON object; null when it is not there."""

    type = String()
    inherit_cache = True


@compiles(cell, "sqlite")
def _on_sqlite(element: cell, compiler: SQLCompiler, **kwargs: Any) -> str:
    column, name = _parts(element)
    begin, end = (literal_column(text, String) for text in ("""'$."'""", """'"'"""))
    path = begin.concat(func.replace(name, '"', '""', type_=String)).concat(end)
    return compiler.process(func.json_extract(column, path), **kwargs)


@compiles(cell, "postgresql")
def _on_postgres(element: cell, compiler: SQLCompiler, **kwargs: Any) -> str:
    column, name = _parts(element)
    return compiler.process(func.json_extract_path_text(cast(column, JSON), name), **kwargs)


def _parts(element: cell) -> tuple[ColumnElement[Any], ColumnElement[str]]:
    column, name = element.clauses
    return column, name


def sorted_text(length: int) -> TypeEngine[str]:
    """The type of a text by which a list is sorted: by code points, whatever the language of the database."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


class LeadingJoin(Join):
    """A join whose left side is read first, with an index of the right side: SQLite reads the others as it likes."""

    inherit_cache = True


def leads_to(first: FromClause, then: FromClause, on: ColumnElement[bool]) -> LeadingJoin:
    """`first` joined with `then`, read in this order by SQLite."""
    return LeadingJoin(first, then, on)


@compiles(LeadingJoin, "sqlite")
def _in_this_order(element: LeadingJoin, compiler: SQLCompiler, **kwargs: Any) -> str:
    assert element.onclause is not None
    sides = (compiler.process(side, **{**kwargs, "asfrom": True}) for side in (element.left, element.right))
    on = compiler.process(element.onclause, from_linter=kwargs.get("from_linter"))
    return f"{' CROSS JOIN '.join(sides)} ON {on}"


def partial_index(name: str, *columns: str | TextClause, where: TextClause, unique: bool = False) -> Index:
    """An index of the rows of which `where` is true."""
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)
