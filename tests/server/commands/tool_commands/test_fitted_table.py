"""Tables fit the width there is, in one line a row: what is least missed goes first, and ids stay whole."""

import io
from collections.abc import Sequence
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from callwright.server.commands.tool_commands.fitted_table import IN_ORDER, show_entries
from callwright.tools.catalogue.registry import tool_named

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


def printed(
    entries: list[dict[str, Any]], width: int, *, folds: bool = False, order: Sequence[str] = ()
) -> tuple[list[str], tuple[str, ...]]:
    """The lines, without blanks at their ends, and the names of what was left out."""
    out = io.StringIO()
    console = Console(file=out, width=width, no_color=True, highlight=False)
    left_out = show_entries(entries, console, folds=folds, order=order)
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


REVIEWS: list[dict[str, Any]] = [
    {
        "id": f"rev_0Vc2nCrkZu3ZRqmRUXUpUz{at}",
        "category": category,
        "severity": "medium",
        "status": status,
        "subject": {"type": "deployment", "id": f"dep_0Vc2nCrkZu3ZRqmRUXUpUz{at}"},
        "message": "12 of the newest 200 answered calls (6.0 %) ended with the wish not to be called again.",
        "due_at": "2026-11-27T10:00:00Z",
    }
    for at, (category, status) in enumerate([("unknown_country", "approved"), ("opt_out_rate", "expired")], 10)
]
ENTRIES: list[dict[str, Any]] = [
    {
        "id": f"dnc_0Vc2nCrkZu3ZRqmRUXUpUz{at}",
        "number": "+442079460000",
        "reason": "wrong_number",
        "created_at": "2026-11-27T10:00:00Z",
        "expires_at": expires_at,
        "source_call_id": f"cal_0Vc2nCrkZu3ZRqmRUXUpUz{at}",
        "simulated": at == 10,
    }
    for at, expires_at in enumerate(["2028-12-31T10:00:00Z", None], 10)
]
TRANSACTIONS: list[dict[str, Any]] = [
    {
        "id": f"txn_0Vc2nCrkZu3ZRqmRUXUpUz{at}",
        "type": "number_rental",
        "amount": {"amount": "-1234.567800", "currency": "USD"},
        "reference": {"type": "phone_number", "id": f"num_0Vc2nCrkZu3ZRqmRUXUpUz{at}"},
        "created_at": "2026-11-27T10:00:00Z",
    }
    for at in (10, 11)
]


@pytest.mark.parametrize(
    ("tool", "entries", "first", "left_out"),
    [
        (
            "list_compliance_reviews",
            REVIEWS,
            "approved unknown_country 11-27 10:00 rev_0Vc2nCrkZu3ZRqmRUXUpUz10 medium",
            ("subject", "message"),
        ),
        (
            "list_do_not_call",
            ENTRIES,
            "+442079460000 wrong_number dnc_0Vc2nCrkZu3ZRqmRUXUpUz10 2028-12-31 yes",
            ("created_at", "source_call_id"),
        ),
        (
            "list_transactions",
            TRANSACTIONS,
            "11-27 10:00 number_rental -1234.5678 USD num_0Vc2nCrkZu3ZRqmRUXUpUz10",
            ("id",),
        ),
    ],
)
def test_eighty_columns_hold_what_a_list_is_read_for_first_and_cut_nothing(
    tool: str, entries: list[dict[str, Any]], first: str, left_out: tuple[str, ...]
) -> None:
    lines, found = printed(entries, 80, order=IN_ORDER[tool])
    assert found == left_out
    assert " ".join(lines[1].split()) == first
    assert len(lines) == 1 + len(entries)
    assert max(map(cell_len, lines)) <= 80
    assert "…" not in "".join(lines)


def test_a_wide_table_in_order_cuts_its_long_text_alone() -> None:
    lines, left_out = printed(REVIEWS, 140, order=IN_ORDER["list_compliance_reviews"])
    assert left_out == ()
    assert lines[1].endswith("answered…")
    assert "dep_0Vc2nCrkZu3ZRqmRUXUpUz10" in lines[1]


def test_the_columns_in_order_are_fields_of_their_lists() -> None:
    for tool, order in IN_ORDER.items():
        default = tool_named(tool).default_fields
        assert default is not None
        assert set(order) == set(default)
