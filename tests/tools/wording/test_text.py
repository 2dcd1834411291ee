"""Short lines."""

import pytest

from callwright.contract.declaration.field_types import Money
from callwright.tools.wording.text import amount, clock_time, counted, line, listed, masked, percent, shortened


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("+12025550100", "+1202•••0100"),
        ("+4930123456", "+493•••3456"),
        ("+390612345678901", "+3906•••8901"),
        ("+1234567", "+12•••67"),
        ("112", "•••12"),
        ("12", "•••"),
        ("", "•••"),
    ],
)
def test_a_masked_number_hides_its_middle(number: str, shown: str) -> None:
    assert masked(number) == shown


@pytest.mark.parametrize("length", range(6, 16))
def test_at_least_three_digits_are_hidden(length: int) -> None:
    digits = "123456789012345"[:length]
    assert sum(char.isdigit() for char in masked(f"+{digits}")) <= length - 3


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("12.400000", "12.40 USD"),
        ("0.042500", "0.0425 USD"),
        ("100", "100.00 USD"),
        ("-0.5", "-0.50 USD"),
        ("0", "0.00 USD"),
    ],
)
def test_money_has_two_places_or_as_many_as_it_needs(value: str, shown: str) -> None:
    assert amount(Money(amount=value, currency="USD")) == shown


def test_facts_that_are_absent_leave_no_gap() -> None:
    assert line("a", None, "", "b") == "a  b"


def test_counts_come_largest_first() -> None:
    assert counted({"busy": 7, "answered": 41, "fax": 7}) == "answered 41, busy 7, fax 7"


def test_long_lists_say_how_many_were_cut() -> None:
    assert listed(["a", "b", "c"], most=2) == "a, b and 1 more"


def test_a_shortened_text_keeps_to_its_length() -> None:
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("abcd", 4) == "abcd"


def test_times_are_minutes_and_seconds() -> None:
    assert clock_time(65.9) == "1:05"


@pytest.mark.parametrize(
    ("part", "whole", "said"), [(2, 52, "3.8%"), (11, 52, "21.2%"), (1, 80, "1.3%"), (3, 3, "100.0%")]
)
def test_a_percentage_is_rounded_half_up_from_the_counts(part: int, whole: int, said: str) -> None:
    assert percent(part, whole) == said
