"""Rows of an audience: what is stored, and each reason why not."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.rules.rows import BadRow, GoodRow, RowRules, read_row, read_rows
from callwright.service.telephony.simulated.steering import check_steering

RULES = RowRules("phone", None, "zone", "id", "phone", check_steering)
NUMBER = "+12125550100"


def good(row: Mapping[str, object], rules: RowRules = RULES) -> GoodRow:
    read = read_row(1, row, rules)
    assert isinstance(read, GoodRow), read
    return read


def test_a_row_is_split_into_number_values_and_steering() -> None:
    row = {"phone": " +1 212 555 0100 ", "name": " Ada ", "id": 7, "zone": "Europe/Berlin", "sim.outcome": "busy"}
    read = good(row)
    assert (read.phone, read.country, read.timezone, read.external_id) == (NUMBER, "US", "Europe/Berlin", "7")
    assert read.cells == {"name": "Ada", "id": "7", "zone": "Europe/Berlin"}
    assert read.steering == {"outcome": "busy"}
    assert good({"phone": NUMBER, "sim.outcome": ""}).steering == {}


def test_a_double_says_which_row_is_the_same_person_and_what_else_it_says() -> None:
    first = {"phone": NUMBER, "id": "7", "day": "Monday", "time": "9:00", "note": ""}
    others = (
        ({**first, "id": "8"}, "row 1 has the same number"),
        ({**first, "note": "call after noon"}, "row 1 has the same number, with another note"),
        ({**first, "day": "", "time": "10:00"}, "row 1 has the same number, with another time"),
        (
            {**first, "day": "Friday", "time": "10:00", "note": "x", "room": "3"},
            "row 1 has the same number, with another day, time, note and more",
        ),
    )
    read = read_rows([(1, first), *((number, row) for number, (row, _) in enumerate(others, 2))], RULES)
    assert [bad.message for bad in read.bad] == [said for _, said in others]
    assert [bad.external_id for bad in read.bad] == ["8", "7", "7", "7"]
    by_id = replace(RULES, dedupe="external_id")
    moved = read_rows([(1, first), (2, {**first, "phone": "+12125550101"})], by_id)
    assert [bad.message for bad in moved.bad] == ["row 1 has the same own id, with another phone"]


@pytest.mark.parametrize(
    ("given", "kept"), [(17, "17"), (" K-1 ", "K-1"), ("", None), (None, None), (["a"], None), ("a\0b", "ab")]
)
def test_a_refused_row_has_the_own_id_of_the_person_where_it_can_be_kept(given: object, kept: str | None) -> None:
    (bad,) = read_rows([(1, {"phone": "", "id": given})], RULES).bad
    assert bad.external_id == kept
    (bad,) = read_rows([(1, {"phone": ""})], replace(RULES, external_id_column=None)).bad
    assert bad.external_id is None


@pytest.mark.parametrize(
    ("row", "code", "column"),
    [
        ({"phone": ""}, "missing_phone", "phone"),
        ({"name": "Ada"}, "missing_phone", "phone"),
        ({"phone": None}, "missing_phone", "phone"),
        ({"phone": "+1212"}, "invalid_phone", "phone"),
        ({"phone": "2125550100"}, "ambiguous_country", "phone"),
        ({"phone": "+19005550100"}, "not_dialable", "phone"),
        ({"phone": NUMBER, **{str(index): "" for index in range(100)}}, "column_count_mismatch", None),
        ({"phone": NUMBER, "note": "x" * 1_001}, "cell_too_long", "note"),
        ({"phone": NUMBER, "tags": ["a"]}, "bad_type", "tags"),
        ({"phone": {"number": NUMBER}}, "bad_type", "phone"),
        ({"phone": NUMBER, "note": "a\0"}, "bad_encoding", "note"),
        ({"phone": NUMBER, "no\0te": ""}, "bad_column_name", "no\\x00te"),
        ({"phone": NUMBER, "no\u202ete": ""}, "bad_column_name", "no\\u202ete"),
        ({"phone": NUMBER, "zone": "Mars/Base"}, "invalid_timezone", "zone"),
        ({"phone": NUMBER, "sim.outcome": "maybe"}, "invalid_steering", "sim.outcome"),
        ({"phone": NUMBER, "sim.colour": "red"}, "invalid_steering", "sim.colour"),
    ],
)
def test_a_refused_row_says_why_and_where(row: dict[str, Any], code: str, column: str | None) -> None:
    read = read_row(3, row, RULES)
    assert isinstance(read, BadRow)
    assert (read.row_number, read.code, read.column) == (3, code, column)
    assert read.message
    assert NUMBER not in read.message


def test_a_refused_number_is_shown_masked() -> None:
    read = read_row(1, {"phone": "+1 212 555 0100 99"}, RULES)
    assert isinstance(read, BadRow)
    assert read.value_redacted == "+1 " + "•" * 12 + "99"


def test_values_at_their_limits_are_kept() -> None:
    row = {"phone": NUMBER, "note": "x" * 1_000, **{str(index): "" for index in range(98)}}
    assert len(good(row).cells) == 99


def test_of_rows_of_one_person_the_first_counts() -> None:
    rows = [(1, {"phone": NUMBER, "id": "a"}), (2, {"phone": "+1 212 555 0100", "id": "b"}), (5, {"phone": "x"})]
    read = read_rows(rows, RULES)
    assert [number for number, _ in read.good] == [1]
    assert [(bad.row_number, bad.code) for bad in read.bad] == [(2, "duplicate_in_file"), (5, "invalid_phone")]
    assert read.duplicates == 1
    by_id = read_rows(rows, replace(RULES, dedupe="external_id"))
    assert ([number for number, _ in by_id.good], by_id.duplicates) == ([1, 2], 0)
    apart = read_rows([*rows, rows[0]], replace(RULES, dedupe="none"))
    assert ([number for number, _ in apart.good], apart.duplicates) == ([1, 2, 1], 0)


def test_without_an_external_id_the_number_tells_people_apart() -> None:
    rules = replace(RULES, dedupe="external_id")
    read = read_rows([(1, {"phone": NUMBER}), (2, {"phone": NUMBER}), (3, {"phone": NUMBER, "id": "a"})], rules)
    assert [number for number, _ in read.good] == [1, 3]


@given(st.dictionaries(st.text(max_size=20), st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=50))))
def test_any_row_is_read_without_failing(row: dict[str, Any]) -> None:
    read = read_row(1, row, RULES)
    assert isinstance(read, BadRow) or "\0" not in str(read.cells)
