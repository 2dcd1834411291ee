"""Tables: one line to a row where there is room, and nothing cut where there is not."""

import io

import pytest
from rich.console import Console

from callwright.server.commands.output.tables import Cell, day, show

COLUMNS: tuple[Cell, ...] = (("name", "id"), "label", "made (UTC)")
ROWS: list[list[Cell]] = [
    [("Bright Dental", "org_012345678901234567890123"), "the front desk's own", ("2026-11-21", "09:00")],
    [("[red]acme[/]", "org_abcdefghijklmnopqrstuvwx"), "", ("never",)],
]


def printed(width: int, *, is_terminal: bool) -> list[str]:
    """The lines of the table, without blanks at their ends."""
    out = io.StringIO()
    show(COLUMNS, ROWS, Console(file=out, width=width, force_terminal=is_terminal, no_color=True, highlight=False))
    plain = out.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", "")
    return [line.rstrip() for line in plain.splitlines()]


@pytest.mark.parametrize(("width", "is_terminal"), [(100, True), (20, False)])
def test_a_row_is_one_line_where_there_is_room_and_in_every_pipe(width: int, is_terminal: bool) -> None:
    assert printed(width, is_terminal=is_terminal) == [
        "name           id                            label                 made (UTC)",
        "Bright Dental  org_012345678901234567890123  the front desk's own  2026-11-21 09:00",
        "[red]acme[/]   org_abcdefghijklmnopqrstuvwx                        never",
    ]


def test_a_narrow_terminal_stacks_parts_and_breaks_texts_but_cuts_nothing() -> None:
    lines = printed(60, is_terminal=True)
    assert lines == [
        "name",
        "id                            label               made (UTC)",
        "Bright Dental                 the front desk's    2026-11-21",
        "org_012345678901234567890123  own                 09:00",
        "[red]acme[/]                                      never",
        "org_abcdefghijklmnopqrstuvwx",
    ]


def test_a_terminal_too_narrow_for_ids_gets_them_whole_all_the_same() -> None:
    text = "\n".join(printed(10, is_terminal=True))
    assert "org_012345678901234567890123" in text
    assert "org_abcdefghijklmnopqrstuvwx" in text


def test_a_table_without_rows_is_its_head() -> None:
    out = io.StringIO()
    show(COLUMNS, [], Console(file=out, width=100))
    assert out.getvalue().split() == ["name", "id", "label", "made", "(UTC)"]


def test_a_moment_is_its_day_and_minute_in_utc() -> None:
    assert day(1_795_251_600_000) == ("2026-11-21", "09:00")
    assert day(None) == ("never",)
