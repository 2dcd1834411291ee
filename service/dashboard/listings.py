"""Lists of the contract as tables: which operation, which columns, which filters. One template shows them all."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from string import Formatter
from typing import Any, Literal, get_args, get_origin

from starlette.datastructures import QueryParams

from callwright.contract.declaration.filters import filter_of
from callwright.contract.declaration.operation import AnyOperation
from callwright.service.dashboard.asking import Page, Refused
from callwright.service.dashboard.html.cells import Cell
from callwright.service.dashboard.html.field_names import label_of, word_of
from callwright.service.dashboard.serving import keeping
from callwright.service.dashboard.visitors import Visitor

CellKind = Literal[
    "text", "state", "contact", "reason", "rule", "words", "moment", "money", "small_money", "number", "count",
    "length", "code", "country", "list", "flag", "changes",
]  # fmt: skip
Choices = Callable[[Visitor], Awaitable[Mapping[str, Sequence[tuple[str, str]]]]]
"""What fields that name a thing may name, with their names for people."""
PER_PAGE = 50


@dataclass(frozen=True)
class Column:
    """A column: its heading, where its value stands in the resource (`stats.completed`), and how it is shown.

    `link` is the address that the cell leads to, with fields of the resource in braces, or finds it.
    """

    heading: str
    at: str
    kind: CellKind = "text"
    link: str | Callable[[Mapping[str, Any]], str | None] | None = None
    is_second: bool = False
    """Whether a narrow window leaves it out."""


def column(
    at: str,
    kind: CellKind = "text",
    link: str | Callable[[Mapping[str, Any]], str | None] | None = None,
    *,
    is_second: bool = False,
) -> Column:
    """A column with the name that people have for its field, see `field_names.py`."""
    return Column(label_of(at), at, kind, link, is_second)


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
    usual: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Filters that hold where the address says nothing else."""
    add: tuple[str, str] | None = None
    """The address and the words of the button that makes another one."""
    links: Sequence[tuple[str, str]] = ()
    """Addresses and words of pages that belong to it."""
    explains: str = ""
    """What its columns mean, where their headings do not say it."""
    counts: str = ""
    """What its entries are called where their number stands, such as `booking`."""
    read_as: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    """An entry with further values for columns, from what the API says of it."""
    choices: Choices | None = None
    """Of filters that name a thing: what they may name."""


@dataclass(frozen=True)
class FilterField:
    """A filter as a field of a form: with options a choice, a moment of UTC, else a text."""

    name: str
    label: str
    value: str
    options: tuple[tuple[str, str], ...]
    is_moment: bool = False


_MOMENTS = ("created_from", "created_before")
"""Filters that are moments."""
_FLAGS = {"true": "yes", "false": "no"}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")
"""A moment as a field of a form sends it: without a zone."""


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
    wanted = [(column.at, column.link) for column in columns]
    return [[Cell(value_at(entry, at), link and _address(link, entry)) for at, link in wanted] for entry in entries]


@cache
def _named_in(link: str) -> tuple[str, ...]:
    return tuple(name for _, name, _, _ in Formatter().parse(link) if name)


def _address(link: str | Callable[[Mapping[str, Any]], str | None], entry: Mapping[str, Any]) -> str | None:
    """The address with the fields of a resource; None where it lacks one, as a contact without a call."""
    if callable(link):
        return link(entry)
    if any(entry.get(name) is None for name in _named_in(link)):
        return None
    return link.format_map(entry)


def fields_of(
    wanted: ListPage, query: QueryParams, choices: Mapping[str, Sequence[tuple[str, str]]]
) -> list[FilterField]:
    """The filters of a page, with what the address says of them."""
    found: list[FilterField] = []
    for name in wanted.filters:
        value = query.get(name, "")
        options = list(
            choices.get(name)
            or [(one, _FLAGS.get(one) or word_of(name, one)) for one in options_of(wanted.operation, name)]
        )
        if value and name in choices and value not in dict(options):
            options.append((value, value))
        found.append(FilterField(name, label_of(name), value, tuple(options), name in _MOMENTS))
    return found


@cache
def options_of(operation: AnyOperation, name: str) -> tuple[str, ...]:
    """The words that a field of an operation's input may have; none for a free text."""
    found: list[str] = []

    def look(annotation: Any) -> None:
        if get_origin(annotation) is Literal:
            found.extend(str(one) for one in get_args(annotation))
        if annotation is bool:
            found.extend(("true", "false"))
        for part in get_args(annotation):
            look(part)

    field = operation.takes.model_fields[name]
    assert filter_of(field) is not None or name == "type", name
    look(field.annotation)
    return tuple(dict.fromkeys(found))


def moment_of(text: str) -> str:
    """What a field of a form sends as a moment of UTC, as the API takes it. Any other text stays as it is."""
    if not _MOMENT.fullmatch(text):
        return text
    return f"{text}Z" if text.count(":") == 2 else f"{text}:00Z"


def list_context(
    wanted: ListPage,
    found: Page,
    query: QueryParams,
    refused: Refused | None = None,
    choices: Mapping[str, Sequence[tuple[str, str]]] | None = None,
) -> dict[str, Any]:
    """What `list.html` shows of a list. What a filter got wrong stands above it."""
    filters = fields_of(wanted, query, choices or {})
    entries = found.data if wanted.read_as is None else [wanted.read_as(entry) for entry in found.data]
    return {
        "columns": wanted.columns,
        "rows": rows_of(wanted.columns, entries),
        "page": found,
        "teaches": wanted.teaches,
        "add": wanted.add,
        "links": wanted.links,
        "explains": wanted.explains,
        "counts": wanted.counts,
        "filters": filters,
        "is_filtered": any(one.value for one in filters),
        "counts_to": wanted.operation.counts_to,
        "refused": None if refused is None else refused.message,
        "query": keeping(query),
    }


async def page_of(visitor: Visitor, wanted: ListPage, query: QueryParams, **fixed: Any) -> Page:
    """A page of the list as the address asks for it. Raises `Refused`."""
    given = {name: moment_of(query[name]) for name in wanted.filters if query.get(name)}
    cursor = query.get("cursor") or None
    return await visitor.ask.many(
        wanted.operation, per_page=PER_PAGE, cursor=cursor, sort=wanted.sort, **{**wanted.usual, **given, **fixed}
    )
