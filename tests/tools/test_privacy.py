"""Contacts' numbers without their middle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.tools.privacy import masked_in


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("+12025550100", "+1202•••0100"),
        ("+1234", "+•••34"),
        ("call +1 (202) 555-0100 now", "call +1202•••0100 now"),
        ("0049 30 1234567", "+4930•••4567"),
        ("+44 20 7946 0958 or +44 20 7946 0959", "+4420•••0958 or +4420•••0959"),
        ("2026-11-21 at 09:30", "2026-11-21 at 09:30"),
        ("order 2025550100", "order 2025550100"),
        ("12.40 USD, 300 of 1000", "12.40 USD, 300 of 1000"),
        ("1+12025550100", "1+12025550100"),
        ("", ""),
    ],
)
def test_international_numbers_lose_their_middle_wherever_they_stand(text: str, shown: str) -> None:
    assert masked_in(text) == shown


@pytest.mark.parametrize("column", ["mobile", "Phone 2", "tel", "home_phone", "WhatsApp", "fax"])
def test_in_a_column_of_telephones_any_notation_is_masked(column: str) -> None:
    for text in ("2025550100", "(202) 555-0100", " 202.555.0100 "):
        assert masked_in(text, column=column) == "202•••0100"
    assert masked_in("none", column=column) == "none"


@pytest.mark.parametrize("column", ["account", "hotel", "order_number", "zip"])
def test_digits_of_other_columns_stay(column: str) -> None:
    assert masked_in("2025550100", column=column) == "2025550100"


@given(st.from_regex(r"\+[1-9][0-9]{6,14}", fullmatch=True))
def test_masking_twice_is_masking_once(number: str) -> None:
    once = masked_in(number)
    assert number[5:-4] == "" or number not in once
    assert masked_in(once) == once
