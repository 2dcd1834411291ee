"""Lists of the contract as tables: which operation, which columns, which filters. One template shows them all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin

from starlette.datastructures import QueryParams

from callwright.contract.declaration.filters import filter_of
from callwright.contract.declaration.operation import AnyOperation
from callwright.service.dashboard.asking import Page
from callwright.service.dashboard.cells import Cell
from callwright.service.dashboard.visitors import Visitor

CellKind = Literal["text", "state", "words", "moment", "money", "number", "count", "length", "code", "list"]
PER_PAGE = 50


@dataclass(frozen=True)
class Column:
    """A column: its heading, where its value stands in the resource (`stats.completed`), and how it is shown.

    `link` is the address that the cell leads to, with fields of the resource in braces.
    """

    heading: str
    at: str
    kind: CellKind = "text"
    link: str | None = None
    is_second: bool = False
    """Whether a narrow window leaves it out."""


@dataclass(frozen=True)
class ListPage:
    """A list as a page. `filters` are fields of the operation's input, `teaches` what an empty list says."""

    path: str
    title: str
    operation: AnyOperation
    columns: Sequence[Column]
    teaches: str
    filters: Sequence[str] = ()
    sort: str | None = None
    add: tuple[str, str] | None = None
    """The address and the words of the button that makes another one."""


@dataclass(frozen=True)
class FilterField:
    """A filter as a field of a form: with options a choice, else a text."""

    name: str
    label: str
    value: str
    options: tuple[str, ...]


def value_at(resource: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path; None where a step is missing."""
    if "." not in path:
        return resource.get(path)
    found: Any = resource
    for step in path.split("."):
        if not isinstance(found, Mapping):
            return None
        found = found.get(step)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return found  # pyright: ignore[reportUnknownVariableType]


def rows_of(columns: Sequence[Column], entries: Sequence[Mapping[str, Any]]) -> list[list[Cell]]:
    """The cells of a page of a list."""
    return [
        [
            Cell(
                column.kind,
                value_at(entry, column.at),
                None if column.link is None else column.link.format_map(_Fields(entry)),
                column.is_second,
            )
            for column in columns
        ]
        for entry in entries
    ]


class _Fields:
    """The fields of a resource, for an address; one that it lacks is empty."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self._entry = entry

    def __getitem__(self, name: str) -> Any:
        return self._entry.get(name, "")


def fields_of(wanted: ListPage, query: QueryParams) -> list[FilterField]:
    """The filters of a page, with what the address says of them."""
    return [
        FilterField(name, name.replace("_", " "), query.get(name, ""), options_of(wanted.operation, name))
        for name in wanted.filters
    ]


@cache
def options_of(operation: AnyOperation, name: str) -> tuple[str, ...]:
    """The words that a field of an operation's input may have; none for a free text."""
    found: list[str] = []

    def look(annotation: Any) -> None:
        if get_origin(annotation) is Literal:
            found.extend(str(one) for one in get_args(annotation))
        for part in get_args(annotation):
            look(part)

    field = operation.takes.model_fields[name]
    assert filter_of(field) is not None or name == "type", name
    look(field.annotation)
    return tuple(dict.fromkeys(found))


async def page_of(visitor: Visitor, wanted: ListPage, query: QueryParams, **fixed: Any) -> Page:
    """A page of the list as the address asks for it. Raises `Refused`."""
    given = {name: query[name] for name in wanted.filters if query.get(name)}
    cursor = query.get("cursor") or None
    return await visitor.ask.many(
        wanted.operation, per_page=PER_PAGE, cursor=cursor, sort=wanted.sort, **{**given, **fixed}
    )
