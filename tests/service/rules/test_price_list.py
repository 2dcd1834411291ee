"""The price list: what its file says, what a number costs by it, and what is wrong with a bad one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.rules.cost_items import cost_of
from callwright.service.rules.prices.price_list import (
    IN_FORCE,
    NUMBER_TYPES,
    SIMULATED,
    BadPriceList,
    Price,
    agreed_price,
    price_of,
    prices_to,
    read_price_list,
    rental_of,
    stored_price,
)
from tests.support.prices import US

GOOD = """
version = "1"
[simulated.calls]
"*" = { minute = 100 }
DE = { landline = 20, mobile = 40, platform = 5 }
MX = { minute = 30, increment_s = 60 }
[simulated.rentals]
"*" = { local = 1, mobile = 2, national = 3, toll_free = 4 }
DE = { mobile = 9 }
"""


@pytest.mark.requirement("WALLET-02")
def test_a_number_costs_what_its_country_and_type_cost() -> None:
    assert price_of(SIMULATED, "+12125550100").minute == 12_000
    assert price_of(SIMULATED, "+4930123456") == IN_FORCE.carriers[SIMULATED].calls["DE"].landline
    assert price_of(SIMULATED, "+4915112345678") == IN_FORCE.carriers[SIMULATED].calls["DE"].mobile
    rest = IN_FORCE.carriers[SIMULATED].calls["*"].landline
    assert price_of(SIMULATED, "+6799123456") == price_of(SIMULATED, "+80012345678") == rest
    assert price_of("a carrier without prices of its own", "+12125550100") == US


@pytest.mark.requirement("WALLET-02")
def test_the_prices_of_several_countries_are_sorted_and_a_stored_price_is_read_back() -> None:
    found = prices_to(SIMULATED, ["US", "DE", "XX"])
    assert [found[0], found[-1]] == [US, IN_FORCE.carriers[SIMULATED].calls["*"].landline]
    price = Price(7, 60, platform=3)
    assert agreed_price(stored_price(price), "+12125550100") == price
    assert agreed_price(None, "+12125550100") == US


def test_a_rent_that_a_country_does_not_name_is_that_of_the_rest() -> None:
    prices = read_price_list(GOOD).carriers[SIMULATED]
    assert [prices.rental("DE", kind) for kind in NUMBER_TYPES] == [1, 9, 4, 3]
    assert all(rental_of(SIMULATED, country, kind) > 0 for country in ("US", "FJ") for kind in NUMBER_TYPES)
    with pytest.raises(KeyError):
        rental_of(SIMULATED, "US", "satellite")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('version = "1"', "", "version: say which list"),
        ('"*" = { minute = 100 }', "", "simulated.calls: give"),
        ('"*" = { local = 1,', '"*" = {', "simulated.rentals.*.local: this has to be a whole number"),
        ("DE = { landline", "QQ = { landline", "simulated.calls.QQ: this is no country"),
        ("landline = 20, ", "", "simulated.calls.DE.landline: this has to be a whole number of at least 1"),
        ("landline = 20", "landline = 0", "simulated.calls.DE.landline"),
        ("landline = 20", "landline = 20.5", "simulated.calls.DE.landline"),
        ("platform = 5", "platform = 21", "simulated.calls.DE.platform: it is part of landline"),
        ("platform = 5", "fee = 5", "simulated.calls.DE.fee: give minute"),
        ("increment_s = 60", "increment_s = 0", "simulated.calls.MX.increment_s"),
        ("mobile = 9", "satellite = 9", "simulated.rentals.DE.satellite: number types are"),
        ("[simulated.calls]", "[other.calls]", "other.rentals: this has to be a table"),
        ("[simulated.calls]", "[simulated.calls", "the price list is no TOML"),
    ],
)
def test_a_bad_price_list_is_refused_by_the_name_of_the_entry(old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(BadPriceList, match=said.replace("*", r"\*").replace(".", r"\.")):
        read_price_list(GOOD.replace(old, new))


@given(st.integers(0, 7_200), st.integers(1, 900_000), st.sampled_from([1, 6, 30, 60]), st.integers(0, 100))
def test_a_call_is_charged_by_the_increment_and_its_parts_sum_to_its_cost(
    seconds: int, minute: int, increment_s: int, share: int
) -> None:
    price = Price(minute, increment_s, platform=minute * share // 100)
    cost = cost_of(price, seconds)
    assert seconds <= cost.billed_seconds < seconds + increment_s
    assert cost.billed_seconds % increment_s == 0
    assert cost.micros * 60 >= cost.billed_seconds * minute > (cost.micros - 1) * 60
    parts = json.loads(cost.items)
    assert {quantity for _, quantity, _ in parts} <= {cost.billed_seconds}
    assert sum(part for _, _, part in parts) == cost.micros
