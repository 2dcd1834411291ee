"""Prints the answer of a tool to a person: a list as a table, a single thing field by field."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from callwright.server.commands.tool_commands.cells import NOTHING, heading, is_money, money, said
from callwright.server.commands.tool_commands.fitted_table import GAP, show_entries

Entries = Sequence[Mapping[str, Any]]
_CURSOR = "next_cursor"
_IN_LINES = "diff"
"""A text whose lines count."""
_NAMED = ("before", "after")
_ONE_LINE = 60
"""An object of more characters takes a line for each of its values."""


def show_answer(
    data: Mapping[str, Any], console: Console, notes: Console, wanted: Sequence[str] = (), order: Sequence[str] = ()
) -> None:
    """Prints an answer to `console`, and what there is besides to `notes`: how many follow, what was left out.

    `wanted` are the fields that the person named: of these it is also said which are empty. `order` has the columns of
    a list, the most important first.
    """
    listed = data.get("data")
    if "pagination" in data and isinstance(listed, list):
        _list(cast("Entries", listed), data["pagination"], console, notes, wanted, order)
        return
    _fields({name: value for name, value in data.items() if name != _CURSOR}, console, notes)
    _say_more(data.get(_CURSOR), None, notes)


def _list(
    entries: Entries,
    paging: Mapping[str, Any],
    console: Console,
    notes: Console,
    wanted: Sequence[str],
    order: Sequence[str],
) -> None:
    if not entries:
        notes.print("Nothing fits." if paging.get("total") == 0 else "No more.", style="dim")
        return
    _say_left_out(show_entries(entries, console, order=() if wanted else order), notes)
    if empty := [name for name in wanted if not any(said(entry.get(name)) for entry in entries)]:
        notes.print(f"Empty here: {', '.join(empty)}.", style="dim", soft_wrap=True)
    if paging.get("has_more"):
        _say_more(paging.get(_CURSOR), _count(len(entries), paging.get("total")), notes)


def _say_left_out(names: Sequence[str], notes: Console) -> None:
    if names:
        notes.print(f"Not shown here: {', '.join(names)}. --json has all.", style="dim", soft_wrap=True)


def _count(shown: int, total: int | None) -> str:
    return f"{shown} of {total:,}" if total is not None else f"{shown} shown"


def _say_more(cursor: Any, count: str | None, notes: Console) -> None:
    if isinstance(cursor, str) and cursor:
        notes.print(f"{f'{count}; more' if count else 'More'}: --cursor {cursor}", style="dim", soft_wrap=True)


def _fields(data: Mapping[str, Any], console: Console, notes: Console) -> None:
    """Each field with its value; then the lists of things, each as a table under its name."""
    tables = {name: cast("Entries", value) for name, value in data.items() if _is_table(value)}
    rows = [
        row
        for name, value in data.items()
        if name not in tables and value not in NOTHING
        for row in _lines(name, value)
    ]
    room = console.width - max((cell_len(label) for label, _ in rows), default=0) - GAP
    unbroken = [row for row in rows if max(map(cell_len, row[1].split()), default=0) > room]
    table = Table.grid(padding=(0, GAP, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for label, words in rows:
        if (label, words) not in unbroken:
            table.add_row(Text(label, style="bold"), Text(words))
    if table.row_count:
        console.print(table)
    for label, words in unbroken:  # a line of its own, which is copied as a whole
        console.print(Text.assemble((label.strip(), "bold"), "\n  ", words), soft_wrap=True)
    for name, entries in tables.items():
        console.print(Text(f"{heading(name)} ({len(entries):,})", style="bold"))
        if any(_parts(name, value) for entry in entries for name, value in entry.items()):
            _blocks(entries, console)
        else:
            _say_left_out(show_entries(entries, console, indent=2, folds=True), notes)


def _blocks(entries: Entries, console: Console) -> None:
    """Things that hold lists of their own or texts whose lines count: each in a line, and what it holds below it."""
    for entry in entries:
        facts = [
            _fact(name, value) for name, value in entry.items() if not _parts(name, value) and value not in NOTHING
        ]
        console.print(Padding(Text("  ".join(facts), "bold"), (0, 0, 0, 2)))
        for name, value in entry.items():
            for one in _parts(name, value):
                console.print(Padding(Text(said(one)), (0, 0, 0, 4)))


def _parts(name: str, value: Any) -> Sequence[Any]:
    """What stands below the line of a thing."""
    return cast("Entries", value) if _is_table(value) else (value,) if name == _IN_LINES and value else ()


def _fact(name: str, value: Any) -> str:
    """A value that says by itself what it is, or else one with its name."""
    says_itself = isinstance(value, str) and name not in _NAMED
    return said(value) if says_itself else f"{heading(name)} {said(value)}"


def _lines(name: str, value: Any) -> list[tuple[str, str]]:
    """A field as a line; an object of several values as a line for each, below its name."""
    words = said(value)
    if not isinstance(value, dict) or len(words) <= _ONE_LINE:
        return [(heading(name), words)]
    inner = dict(cast("Mapping[str, Any]", value))
    first = ""
    if is_money(inner):
        first = money(inner)
        del inner["amount"], inner["currency"]
    shown = [row for key, one in inner.items() if one not in NOTHING for row in _inner_lines(f"  {heading(key)}", one)]
    return [(heading(name), first), *shown]


def _inner_lines(label: str, value: Any) -> list[tuple[str, str]]:
    """A value of an object as a line; a list of things as a line for each."""
    if not _is_table(value):
        return [(label, said(value))]
    return [(label if at == 0 else "", said(one)) for at, one in enumerate(cast("Entries", value))]


def _is_table(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    entries = cast("list[Any]", value)
    return bool(entries) and all(isinstance(one, dict) for one in entries)
