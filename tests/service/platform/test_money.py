"""Money: exact in both directions, and never rounded down for the caller."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.contract.deployments.call_price import MICROS
from callwright.service.platform.money import amount, micros, money


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
