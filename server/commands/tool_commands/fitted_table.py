"""Tables of answers that fit the width there is: columns are shortened, then left out, and no row takes two lines."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from callwright.server.commands.tool_commands.cells import (
    IDENTIFIER,
    MOMENT,
    REFERENCE,
    brief_moment,
    day_of,
    heading,
    said,
)

GAP = 2
"""Characters between two columns."""
SHORT = 14
"""The least width to which a text is shortened before its column is left out."""
_KEY = "key"
_READ_FOR = {
    "snippets": 1,
    **dict.fromkeys(("name", "contact_name", "external_id"), 2),
    **dict.fromkeys(("outcome", "disposition", "last_outcome", "last_disposition"), 2),
}
"""Columns that are kept the longest, with their rank."""
IN_ORDER: Mapping[str, Sequence[str]] = {
    "list_compliance_reviews": ("status", "category", "due_at", "id", "severity", "subject", "message"),
    "list_do_not_call": ("number", "reason", "id", "expires_at", "simulated", "created_at", "source_call_id"),
    "list_transactions": ("created_at", "type", "amount", "reference", "id"),
}
"""The columns of lists by their tool, the most important first: the last ones are left out first."""
_DAYS = ("expires_at",)
"""Moments that may be years away, so that their day says more than their hour."""
_STATE = ("status", "status_reason")
_LEAST = {"snippets": 30, "message": 30}
_FOLDED = 24
"""The least width of a column of long text, where rows may take several lines."""


@dataclass(frozen=True)
class FittedColumn:
    """A column: its name, its texts, and what it may do if there is too little room."""

    name: str
    cells: tuple[str, ...]
    width: int
    least: int
    """The width to which it may be shortened."""
    rank: int
    """Columns of the highest rank are left out first; those of rank 0 stay."""
    is_number: bool
    brief: tuple[str, ...] = ()
    """Shorter texts with which the column needs less room, if there are any."""


def show_entries(
    entries: Sequence[Mapping[str, Any]],
    console: Console,
    *,
    indent: int = 0,
    folds: bool = False,
    order: Sequence[str] = (),
) -> tuple[str, ...]:
    """Prints entries as a table. Returns the names of the columns that were left out.

    With `folds` the widest column of text is wrapped rather than shortened. `order` has names of columns, the most
    important first; others stand behind them.
    """
    entries = _flat(entries)
    names = sorted(_names(entries), key=lambda name: order.index(name) if name in order else len(order))
    columns = [_column(at, name, entries, is_state=_is_state(name, names)) for at, name in enumerate(names)]
    if order:
        columns = [replace(column, rank=at) for at, column in enumerate(columns)]
    columns = [column for column in columns if any(column.cells)]
    room = console.width - indent
    folded = max(columns, key=lambda column: column.width, default=None) if folds else None
    kept = fitted(columns, room, folded.name if folded else None)
    kept.sort(key=lambda column: folded is not None and column.name == folded.name)  # what is wrapped comes last
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), show_edge=False)
    for column in kept:
        folds_here = folded is not None and column.name == folded.name
        table.add_column(
            Text(_stacked(column), style="bold"),
            width=column.width,
            justify="right" if column.is_number else "left",
            no_wrap=not folds_here,
            overflow="fold" if folds_here else "ellipsis",
        )
    for at in range(len(entries)):
        table.add_row(*(Text(column.cells[at]) for column in kept))
    console.print(Padding(table, (0, 0, 0, indent), expand=False))
    shown = {column.name for column in kept}
    return tuple(column.name for column in columns if column.name not in shown)


def fitted(columns: Sequence[FittedColumn], room: int, folded: str | None = None) -> list[FittedColumn]:
    """The columns that fit into `room` characters, shortened if need be; `folded` names one that may be wrapped."""
    kept = [replace(one, least=min(_FOLDED, one.width), rank=0) if one.name == folded else one for one in columns]
    if _over(kept, room) > 0:
        kept = [_in_brief(column) for column in kept]
    while True:
        over = _over(kept, room)
        if over <= 0:
            return kept
        shrunk = _shrunk(kept, over)
        if shrunk is not None:
            return shrunk
        last = max(range(len(kept)), key=lambda at: (kept[at].rank, at), default=0)
        if len(kept) < 2 or kept[last].rank == 0:
            return [replace(column, width=min(column.width, max(room, 1))) for column in kept]
        del kept[last]


def _over(columns: Sequence[FittedColumn], room: int) -> int:
    return sum(column.width + GAP for column in columns) - GAP - room


def _in_brief(column: FittedColumn) -> FittedColumn:
    if not column.brief:
        return column
    width = max(_head_width(column.name), *map(cell_len, column.brief))
    return replace(column, cells=column.brief, brief=(), width=width, least=width)


def _head_width(name: str) -> int:
    return max(map(cell_len, heading(name).split()), default=1)


def _shrunk(columns: Sequence[FittedColumn], over: int) -> list[FittedColumn] | None:
    """The columns made narrower by `over` in all, the widest first; None if they would become narrower than allowed."""
    if sum(column.width - column.least for column in columns) < over:
        return None
    widths = [column.width for column in columns]
    for _ in range(over):
        widest = max(range(len(columns)), key=lambda at: widths[at] if widths[at] > columns[at].least else -1)
        widths[widest] -= 1
    return [replace(column, width=width) for column, width in zip(columns, widths, strict=True)]


def _flat(entries: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The entries with a column for each value of their `key`, by which groups are told apart."""
    if not all(isinstance(entry.get(_KEY), dict) for entry in entries):
        return entries
    return [{**entry[_KEY], **{name: value for name, value in entry.items() if name != _KEY}} for entry in entries]


def _names(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names of the entries' fields, each where it first stands beside those before it."""
    names: list[str] = []
    for entry in entries:
        at = 0
        for name in entry:
            if name in names:
                at = names.index(name) + 1
            else:
                names.insert(at, name)
                at += 1
    return names


def _is_state(name: str, names: Sequence[str]) -> bool:
    """Whether a column says where each entry stands, or why: a list that has the reason is read for both."""
    return name in _STATE and _STATE[-1] in names


def _column(at: int, name: str, entries: Sequence[Mapping[str, Any]], *, is_state: bool) -> FittedColumn:
    values = [_id_of(entry.get(name)) for entry in entries]
    present = [value for value in values if value is not None]
    cells = tuple(" ".join(said(value).split()) for value in values)
    is_number = all(isinstance(value, int | float) and not isinstance(value, bool) for value in present)
    head = _head_width(name)
    width = max(head, *map(cell_len, cells))
    least = width if is_number or all(map(_is_whole, present)) else min(width, max(head, _LEAST.get(name, SHORT)))
    rank = 0 if at == 0 else 1 if is_state else _rank(name, present, cells)
    shorter = day_of if name in _DAYS else brief_moment
    brief = tuple(map(shorter, cells)) if present and all(map(_is_moment, present)) else ()
    return FittedColumn(name, cells, width, least, rank, is_number, brief)


def _id_of(value: Any) -> Any:
    """The id of a thing that is named by its type and id, since the id says the type; any other value itself."""
    if not isinstance(value, dict):
        return value
    thing = cast("dict[str, Any]", value)
    found = thing["id"] if set(thing) == REFERENCE else None
    return found if isinstance(found, str) and IDENTIFIER.fullmatch(found) else thing


def _is_moment(value: Any) -> bool:
    return isinstance(value, str) and MOMENT.fullmatch(value) is not None


def _is_whole(value: Any) -> bool:
    """Whether a value means nothing when it is cut: an id, a moment, yes or no, a telephone number."""
    text = value if isinstance(value, str) else ""
    return isinstance(value, bool) or bool(
        IDENTIFIER.fullmatch(text) or MOMENT.fullmatch(text) or (text.startswith("+") and " " not in text)
    )


def _rank(name: str, present: Sequence[Any], cells: Sequence[str]) -> int:
    """How soon a column is left out. First goes what is the same everywhere, then ids, then what is nested.

    Last goes what a list is read for: who it was and what came of it.
    """
    if name in _READ_FOR:
        return _READ_FOR[name]
    if len(cells) > 2 and len(set(cells)) == 1:
        return 7
    if any(isinstance(value, list | dict) for value in present):
        return 5
    if all(map(_is_moment, present)):
        return 3
    return 6 if all(isinstance(value, str) and IDENTIFIER.fullmatch(value) for value in present) else 4


def _stacked(column: FittedColumn) -> str:
    """The heading in as few lines as its column is wide."""
    lines: list[str] = []
    for word in heading(column.name).split():
        if lines and len(lines[-1]) + 1 + len(word) <= column.width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)
