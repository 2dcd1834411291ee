"""Tables fit the width there is, in one line a row: what is least missed goes first, and ids stay whole."""

import io
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from callwright.server.commands.tool_commands.fitted_table import show_entries

PEOPLE = (("Ravi", "answered"), ("Anne Müller", "busy"), ("陈小明", "no_answer"))
CALLS: list[dict[str, Any]] = [
    {
        "id": f"cal_0Vc2nCrkZu3ZRqmRUXUpUz{at}",
        "contact_name": name,
        "to": f"+1415•••21{at}",
        "status": "completed",
        "outcome": outcome,
        "created_at": f"2026-11-27T10:{at}:53Z",
        "duration_seconds": at * 7,
        "agent_id": f"agt_0Vc2nCmKCYUQ8gMaehZbs5{at}",
    }
    for at, (name, outcome) in enumerate(PEOPLE, 10)
]


def printed(entries: list[dict[str, Any]], width: int, *, folds: bool = False) -> tuple[list[str], tuple[str, ...]]:
    """The lines, without blanks at their ends, and the names of what was left out."""
    out = io.StringIO()
    left_out = show_entries(entries, Console(file=out, width=width, no_color=True, highlight=False), folds=folds)
    return [line.rstrip() for line in out.getvalue().splitlines()], left_out


def test_a_wide_table_has_every_column() -> None:
    lines, left_out = printed(CALLS, 160)
    assert left_out == ()
    assert lines[1].split()[-6:] == ["outcome", "created", "at", "seconds", "agent", "id"]
    assert "2026-11-27 10:10Z" in lines[2]


@pytest.mark.parametrize("width", [30, 60, 72, 80, 100, 140])
def test_no_row_is_wider_than_there_is_room_and_none_takes_two_lines(width: int) -> None:
    lines, left_out = printed(CALLS, width)
    assert max(map(cell_len, lines)) <= width
    rows = [line for line in lines if "cal_" in line]
    assert len(rows) == len(CALLS)
    assert all(call["id"] in row for call, row in zip(CALLS, rows, strict=True))
    assert bool(left_out) == (width < 140)


def test_eighty_columns_hold_who_was_called_how_it_went_and_when() -> None:
    lines, left_out = printed(CALLS, 80)
    assert left_out == ("status", "duration_seconds", "agent_id")
    assert lines[2].split() == [CALLS[0]["id"], "Ravi", "+1415•••2110", "answered", "11-27", "10:10"]


def test_what_a_list_is_read_for_stays_where_there_is_little_room() -> None:
    results = [
        {
            "id": f"ctc_0Vc2nCrkZu3ZRqmRUXUpUz{at}",
            "external_id": f"K-{at}",
            "phone_number": f"+1415•••21{at}",
            "status": "exhausted" if at == 11 else "completed",
            "attempts": at,
            "last_outcome": outcome,
            "last_disposition": "goal_met" if outcome == "answered" else None,
        }
        for at, (_, outcome) in enumerate(PEOPLE, 10)
    ]
    _, left_out = printed(results, 80)
    assert left_out == ("status", "attempts")
    found = [{**call, "deployment_id": f"dep_0Vc2nCrkZu3ZRqmRUXUpUz{call['id'][-2:]}"} for call in CALLS]
    found = [{**call, "snippets": [{"role": "contact", "text": "I had a hip operation in October."}]} for call in found]
    lines, left_out = printed(found, 80)
    assert "contact: I had a hip operatio" in lines[-1]
    assert {"to", "status", "deployment_id"} <= set(left_out)


def test_a_long_text_is_cut_before_a_column_is_left_out() -> None:
    entries = [{"id": "a", "note": "x" * 60, "count": 3}]
    lines, left_out = printed(entries, 40)
    assert left_out == ()
    assert lines[1].startswith("a   xxx")
    assert lines[1].endswith("…      3")


def test_a_long_text_is_wrapped_where_that_is_wanted() -> None:
    entries = [{"text": "one two three four five six seven eight nine ten", "index": 0}]
    lines, _ = printed(entries, 34, folds=True)
    assert " ".join(" ".join(line.split()) for line in lines[1:]).removeprefix("0 ") == entries[0]["text"]


def test_what_a_terminal_would_execute_is_not_printed() -> None:
    lines, _ = printed([{"id": "a", "name": "red\x1b[31m\u202eder"}], 80)
    assert lines[1] == "a   red\ufffd[31m\ufffdder"
