"""Money: exact in both directions, and never rounded down for the caller."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.contract.deployments.call_price import MICROS
from callwright.service.platform.money import amount, micros, money, written_micros


@given(st.integers(-(10**18), 10**18))
def test_an_amount_is_read_back_exactly(value: int) -> None:
    assert micros(amount(value)) == value
    assert Decimal(amount(value)) * MICROS == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (42_500, "0.042500"),
        (-1, "-0.000001"),
        (-1_500_000, "-1.500000"),
        (0, "0.000000"),
        (10**15, "1000000000.000000"),
    ],
)
def test_an_amount_has_six_places(value: int, text: str) -> None:
    assert amount(value) == text
    assert (money(value).amount, money(value).currency) == (text, "USD")


def test_text_without_places_is_read() -> None:
    assert [micros(text) for text in ("25", "0.5", "0.000001")] == [25_000_000, 500_000, 1]


@pytest.mark.parametrize(
    ("text", "value"), [("50.00", 50_000_000), (" 0.0425 ", 42_500), ("-1", -1_000_000), ("1000000", 10**12)]
)
def test_what_a_person_writes_is_read_to_the_micro(text: str, value: int) -> None:
    assert written_micros(text, "the amount") == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a lot", "the amount 'a lot' is not an amount; write for example 50.00"),
        ("NaN", "the amount 'NaN' is not an amount; write for example 50.00"),
        ("-Infinity", "the amount '-Infinity' is not an amount; write for example 50.00"),
        ("1000000.01", "the amount is at most 1,000,000.00; write for example 50.00"),
        ("-1000000.01", "the amount is at most 1,000,000.00; write for example 50.00"),
        ("1e5", "the amount '1e5' is not an amount; write for example 50.00"),
        ("1e999999999", "the amount '1e999999999' is not an amount; write for example 50.00"),
        ("1_000", "the amount '1_000' is not an amount; write for example 50.00"),
        ("\u0665", "the amount '\u0665' is not an amount; write for example 50.00"),
        ("0.0000001", "the amount '0.0000001' is not an amount; write for example 50.00"),
    ],
)
def test_what_is_no_amount_is_refused_by_its_name(text: str, said: str) -> None:
    with pytest.raises(ValueError, match="the amount") as refused:
        written_micros(text, "the amount")
    assert str(refused.value) == said
