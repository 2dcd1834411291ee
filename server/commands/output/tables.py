"""Tables for a terminal and for a pipe."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import chain

from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Column, Table

Cell = str | tuple[str, ...]
"""A text that may be wrapped, or parts that are never cut."""
FOLDED = 8
"""The smallest width of a text column, in characters."""
_UNLIMITED = 10_000
"""A width, in characters, that no row reaches."""


def show(columns: Sequence[Cell], rows: Iterable[Sequence[Cell]], console: Console | None = None) -> None:
    """Prints a table, one line a row. If that is too wide for a terminal, it stacks the parts of cells.

    A column whose header has several parts is split into as many columns if there is room. In a pipe there always is.
    """
    console = console or Console(highlight=False)
    given = list(rows)
    table = _wide(columns, given)
    if not console.is_terminal:
        console.width = max(console.width, _needed(console, table))
    elif _needed(console, table) > console.width:
        table = _stacked(columns, given)
        least = [[cell[:FOLDED] if isinstance(cell, str) else cell for cell in row] for row in given]
        console.width = max(console.width, _needed(console, _stacked(columns, least)))
    console.print(table, soft_wrap=True)


def day(ms: int | None) -> tuple[str, ...]:
    """A time in UTC as a cell: day and minute, or `never`."""
    if ms is None:
        return ("never",)
    moment = datetime.fromtimestamp(ms / 1_000, UTC)
    return moment.strftime("%Y-%m-%d"), moment.strftime("%H:%M")


def _needed(console: Console, table: Table) -> int:
    return Measurement.get(console, console.options.update(width=_UNLIMITED), table).maximum


def _wide(columns: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> Table:
    heads = list(chain.from_iterable((head,) if isinstance(head, str) else head for head in columns))
    table = Table(*heads, box=None, pad_edge=False)
    for row in rows:
        paired = zip(columns, row, strict=True)
        cells = chain.from_iterable(cell if isinstance(head, tuple) else (_joined(cell, " "),) for head, cell in paired)
        table.add_row(*map(escape, cells))
    return table


def _stacked(columns: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> Table:
    whole = {place for row in rows for place, cell in enumerate(row) if isinstance(cell, tuple)}
    heads = [Column(_joined(head, "\n"), no_wrap=at in whole, overflow="fold") for at, head in enumerate(columns)]
    table = Table(*heads, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(escape(_joined(cell, "\n")) for cell in row))
    return table


def _joined(cell: Cell, between: str) -> str:
    return cell if isinstance(cell, str) else between.join(filter(None, cell))
