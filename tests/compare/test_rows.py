"""What is taken for the same rows, and what is found to differ."""

import json
from typing import Any

import pytest

from tests.compare.rows import Row, differences


def call(place: int, run: str, **changed: Any) -> list[Row]:
    """A call with its contact, with ids as one of the runs has them."""
    call_id, contact_id = f"cal_{run}{place:023d}", f"ctc_{run}{place:023d}"
    made = {"id": call_id, "contact_id": contact_id, "outcome": "busy", **changed}
    contact = {"id": contact_id, "number": f"+1202555{place:04d}"}
    return [("calls", json.dumps(made, sort_keys=True)), ("contacts", json.dumps(contact, sort_keys=True))]


def rows(run: str, order: tuple[int, ...] = (1, 2, 3)) -> list[Row]:
    return [row for place in order for row in call(place, run)]


def test_rows_of_two_runs_are_the_same_whatever_their_ids_and_their_order() -> None:
    assert differences(rows("a"), rows("b", (3, 1, 2))) == []


@pytest.mark.parametrize(
    ("changed", "count"),
    [(call(3, "b", outcome="answered"), 2), (call(3, "b", attempt=2), 2), ([], 2), ([*call(3, "b"), *call(3, "b")], 2)],
)
def test_a_row_that_one_run_alone_has_is_found(changed: list[Row], count: int) -> None:
    found = differences(rows("a"), [*rows("b", (1, 2)), *changed])
    assert len(found) == count, found


def test_the_same_rows_that_hang_together_in_another_way_are_found() -> None:
    (one, contact), (two, other) = call(1, "b"), call(2, "b")
    swapped = [("calls", one[1].replace("ctc_b" + "1".zfill(23), "ctc_b" + "2".zfill(23)))]
    found = differences(rows("a", (1, 2)), [*swapped, contact, two, other])
    assert found, "two calls of one person are taken for one of each"
