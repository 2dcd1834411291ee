"""What the columns of a list hold, read off its cells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.rules.columns import column_type, columns_of, joined


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("TRUE", "boolean"),
        ("-1.5", "number"),
        ("2026-01-31", "date"),
        ("2026-1-31", "string"),
        ("Ada", "string"),
        ("[1]", "string"),
        ("null", "string"),
        ("007", "string"),
    ],
)
def test_the_type_of_a_column_is_read_off_its_values(value: str, kind: str) -> None:
    assert column_type(value) == kind


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.sampled_from(["", "1", "x", "true", "2026-01-31"]))))
def test_rows_read_in_two_parts_give_the_columns_of_all_of_them(rows: list[dict[str, str]]) -> None:
    half = len(rows) // 2
    assert joined(columns_of(rows[:half]), columns_of(rows[half:])) == columns_of(rows)
