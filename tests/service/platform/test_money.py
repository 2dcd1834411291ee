"""Money: exact in both directions, and never rounded down for the caller."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.contract.deployments.call_price import MICROS
from callwright.service.platform.money import amount, micros, money
from callwright.service.rules.price_settings import PRICES


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


@given(st.integers(0, 3_600))
def test_a_call_is_charged_by_the_second_and_rounded_up(seconds: int) -> None:
    price = PRICES.call(seconds)
    assert price * 60 >= seconds * PRICES.outbound_minute > (price - 1) * 60
    assert PRICES.call(60) == PRICES.outbound_minute
    assert PRICES.reservation() == PRICES.call(120)


def test_every_kind_of_number_has_a_rent() -> None:
    assert {kind: PRICES.rental(kind) > 0 for kind in ("local", "mobile", "toll_free", "national")}
    with pytest.raises(KeyError):
        PRICES.rental("satellite")
