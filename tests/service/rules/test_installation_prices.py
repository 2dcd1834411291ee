"""The price list of an installation: how it is read, which price a number and a service have, and its bounds."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from callwright.contract.agents.call_tools import TransferTool
from callwright.contract.agents.transfer_destinations import TransferDestination
from callwright.contract.audiences import MAX_ROWS
from callwright.contract.deployments.call_price import CallPrice
from callwright.contract.deployments.maximum_cost import maximum_cost
from callwright.service.rules.call_tools import stored_tools
from callwright.service.rules.cost_items import Used, cost_on_line, settled, stored_items
from callwright.service.rules.prices.installation_prices import (
    MOST_A_MINUTE,
    MOST_INCREMENT_S,
    prices_in,
    read_installation_prices,
)
from callwright.service.rules.prices.price_list import BadPriceList, Price, agreed_price, stored_price
from callwright.service.rules.prices.transfer_prices import PersonRate, TransferLeg, with_transfers
from tests.support.priced_calls import LIST

PRICES = read_installation_prices(LIST)
_AT_MOST = "this has to be a whole number of at least {} and at most {:,}"
SERVICES = 9_000 + 20_000 + 40_000


def test_the_longest_prefix_of_a_number_has_its_price_and_a_stored_price_is_read_back() -> None:
    for number, minute in (("+14155550100", 12_000), ("+12125550100", 18_000), ("+4930123456", 120_000)):
        price = PRICES.price_of("scripted", number)
        assert (price.minute, price.platform, price.increment_s) == (minute + 6_000, 6_000, 60)
        assert price.held_back == 2 * (minute + 6_000 + SERVICES)
        assert agreed_price(stored_price(price), number) == price
    unknown = PRICES.price_of("another", "+14155550100")
    assert (unknown.minute, unknown.has_telephony) == (6_000, False)
    assert agreed_price(stored_price(unknown), "+14155550100") == unknown


@pytest.mark.parametrize(
    ("countries", "minutes"),
    [(["US"], [12_000, 18_000]), (["DE"], [120_000]), (["US", "DE"], [12_000, 18_000, 120_000]), ([], None)],
)
def test_the_prices_of_countries_are_those_that_their_numbers_may_have(
    countries: list[str], minutes: list[int] | None
) -> None:
    found = [price.minute - 6_000 for price in PRICES.prices_to("scripted", countries)]
    assert found == (minutes or [12_000, 18_000, 120_000])


def test_the_price_of_a_model_comes_before_that_of_every_model() -> None:
    listed = LIST.replace(
        '{ provider = "openai", unit = "output_token", price = 1_600_000, per = 1_000_000 },',
        '{ provider = "openai", unit = "output_token", price = 2 },'
        '{ provider = "openai", model = "small", unit = "output_token", price = 1 },',
    )
    llm = read_installation_prices(listed).services["llm"]
    found = [llm.find("openai", model, "output_token") for model in ("small", "big", None)]
    assert [None if one is None else one.price for one in found] == [1, 2, 2]
    assert llm.find("other", "small", "output_token") is None


@pytest.mark.requirement("COST-09")
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('version = "2026.11.27"', "", "version: write up to four numbers"),
        ('version = "2026.11.27"', 'version = "next"', "version: write up to four numbers"),
        ("minute = 6_000", "minute = 1.5", "platform.minute: this has to be a whole number of at least 0"),
        ("minute = 6_000", "minute = 6_000\nhour = 1", "platform.hour: there is no such field; there are minute"),
        ('"*" = { minute = 120_000, increment_s = 60 }', "", 'carriers.scripted."*": give the price of all other'),
        ('"+1415"', '"1415"', "carriers.scripted.1415: this is not a prefix such as +44, or *"),
        ("{ minute = 12_000, increment_s = 60 }", "12_000", "carriers.scripted.+1415: this has to be a table"),
        (
            "minute = 12_000",
            "minute = 0",
            "carriers.scripted.+1415.minute: this has to be a whole number of at least 1",
        ),
        ("most_per_minute = 9_000", "", "services.stt.most_per_minute: this has to be a whole number of at least 1"),
        ("[services.stt]", "[services.ears]", "services.ears: this is not one of stt, llm, tts"),
        ('unit = "second"', 'unit = "minute"', "services.stt.prices[0].unit: write the unit: second"),
        ('provider = "deepgram"', "provider = 1", "services.stt.prices[0].provider: write the provider's kind"),
        (
            "price = 129",
            "price = 9_000_000_000_000_000",
            "services.stt.prices[0].price: this has to be a whole number of at least 1 and at most 1,000,000",
        ),
        ("[rates]", "[rates]\nEUR2 = " + "[" * 5_000 + "]" * 5_000, "tables or lists are nested too deeply"),
        ("minute = 6_000", "minute = 100_000_001", f"platform.minute: {_AT_MOST.format(0, 100_000_000)}"),
        (
            "minute = 12_000, increment_s = 60",
            "minute = 12_000, increment_s = 3_601",
            f"carriers.scripted.+1415.increment_s: {_AT_MOST.format(1, 3_600)}",
        ),
        (
            "most_per_minute = 9_000",
            "most_per_minute = 100_000_001",
            f"services.stt.most_per_minute: {_AT_MOST.format(1, 100_000_000)}",
        ),
        ("price = 129", "price = true", "services.stt.prices[0].price: this has to be a whole number"),
        ("price = 129", "prize = 129", "services.stt.prices[0].price: this has to be a whole number"),
        (
            '"output_token"',
            '"input_token"',
            "services.llm.prices[1].unit: this provider, model and unit has a price already",
        ),
        ("EUR", "euro", "rates.euro: this is not a currency, such as EUR"),
        ("[platform]", "[platform", "this is no TOML"),
    ],
)
def test_a_mistake_is_named_by_its_field(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in LIST
    file = tmp_path / "prices.toml"
    file.write_text(LIST.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadPriceList) as refused:
        prices_in(file)
    assert str(refused.value).startswith(f"{file}: {said}")


@pytest.mark.requirement("COST-09")
@given(
    minute=st.integers(1, 2 * MOST_A_MINUTE),
    increment_s=st.integers(1, MOST_INCREMENT_S),
    started_minute=st.integers(0, 3 * MOST_A_MINUTE),
    transfer_minute=st.integers(0, MOST_A_MINUTE),
    transfer_increment_s=st.integers(1, MOST_INCREMENT_S),
    people=st.integers(0, MAX_ROWS),
    cap=st.none() | st.integers(0, 2**62),
)
@example(2 * MOST_A_MINUTE, MOST_INCREMENT_S, 3 * MOST_A_MINUTE, MOST_A_MINUTE, MOST_INCREMENT_S, MAX_ROWS, None)
@example(2 * MOST_A_MINUTE, MOST_INCREMENT_S, 3 * MOST_A_MINUTE, MOST_A_MINUTE, MOST_INCREMENT_S, MAX_ROWS, 2**62)
def test_the_most_that_a_campaign_may_cost_can_be_stored_whatever_the_list_says(
    minute: int,
    increment_s: int,
    started_minute: int,
    transfer_minute: int,
    transfer_increment_s: int,
    people: int,
    cap: int | None,
) -> None:
    price = CallPrice(minute, increment_s, started_minute, transfer_minute, transfer_increment_s)
    most = maximum_cost(price, people=people, attempts=10, longest_s=3_600, concurrency=1_000, cap=cap, under_way=1_000)
    assert max(most.calls, most.micros, most.overrun, price.held_back) < 2**63


@given(
    st.integers(0, 7_200),
    st.lists(st.tuples(st.sampled_from(["input_token", "cached_input_token", "output_token"]), st.floats(0, 1e9))),
    st.floats(0, 1e6),
    st.booleans(),
)
def test_a_call_costs_the_sum_of_its_amounts_and_never_more_than_was_agreed(
    seconds: int, tokens: list[tuple[str, float]], characters: float, is_told: bool
) -> None:
    used = [Used("llm", "openai", "any", unit, quantity) for unit, quantity in tokens]
    used.append(Used("tts", "openai", "any", "character", characters))
    price = PRICES.price_of("scripted", "+14155550100")
    cost = cost_on_line(price, seconds, carrier="scripted", used=used, prices=PRICES, is_told=is_told)
    items = stored_items(cost.items)
    assert cost.micros == sum(one.micros or 0 for one in items) <= price.call(seconds)
    assert cost.is_pending == (is_told and seconds > 0)


@given(st.integers(1, 7_200), st.integers(0, 10**9), st.sampled_from(["USD", "EUR", "GBP"]))
def test_a_late_price_takes_back_what_was_charged_too_much_and_never_charges_more(
    seconds: int, told: int, currency: str
) -> None:
    price = PRICES.price_of("scripted", "+14155550100")
    cost = cost_on_line(price, seconds, carrier="scripted", used=(), prices=PRICES, is_told=True)
    items, change = settled(cost.items, (told, currency), PRICES)
    assert change <= 0
    assert sum(one.micros or 0 for one in stored_items(items)) == cost.micros + change
    assert settled(items, (0, "USD"), PRICES) == (items, 0)


DESK, ABROAD = "+12125550177", "+493012345678"
TOOLS = stored_tools(
    [
        TransferTool(
            type="transfer",
            name="transfer_call",
            description="To a person.",
            destinations=[TransferDestination(name=to, to=to) for to in (DESK, ABROAD)],
        )
    ]
)


@st.composite
def transfers(draw: st.DrawFn) -> tuple[int, list[TransferLeg]]:
    """The seconds of a call, and up to two calls to persons within it, one after the other."""
    seconds = draw(st.integers(1, 7_200))
    times = sorted(draw(st.lists(st.floats(0, seconds), min_size=4, max_size=4)))
    numbers = draw(st.lists(st.sampled_from([DESK, ABROAD]), max_size=2))
    ids = draw(st.sampled_from([(None, None), ("CA_first", "CA_second")]))
    legs = [TransferLeg(to, times[2 * at], times[2 * at + 1], ids[at]) for at, to in enumerate(numbers)]
    return seconds, legs


@pytest.mark.requirement("COST-11")
@given(transfers(), st.integers(0, 10**7))
def test_a_call_with_persons_costs_the_sum_of_its_amounts_and_never_more_than_was_agreed(
    made: tuple[int, list[TransferLeg]], told: int
) -> None:
    seconds, legs = made
    price = with_transfers(PRICES.price_of("scripted", "+14155550100"), PRICES, "scripted", TOOLS)
    assert agreed_price(stored_price(price), "+14155550100") == price
    given: dict[str, Any] = {"carrier": "scripted", "used": (), "prices": PRICES, "is_told": True}
    cost = cost_on_line(price, seconds, transfers=legs, **given)
    items = stored_items(cost.items)
    persons = [one for one in items if one.item == "transfer"]
    assert cost.micros == sum(one.micros or 0 for one in items) <= price.call(seconds)
    assert [one.quantity for one in persons] == [-(-leg.seconds // 60) * 60 for leg in legs]
    wanted = {DESK: 18_000, ABROAD: 120_000}
    # What was agreed covers all that two calls one after the other can cost: nothing is capped.
    assert [one.micros for one in persons] == [-(-leg.seconds // 60) * wanted[leg.to] for leg in legs]
    for leg in legs:
        stored, change = settled(cost.items, (told, "USD"), PRICES, transfer=leg.charge_id or "CA_unknown")
        assert change <= 0
        assert sum(one.micros or 0 for one in stored_items(stored)) == cost.micros + change
        assert settled(stored, (0, "USD"), PRICES, transfer=leg.charge_id or "CA_unknown") == (stored, 0)


@pytest.mark.requirement("COST-11")
@given(
    st.integers(1, 7_200),
    st.lists(st.tuples(st.integers(1, 10**7), st.integers(1, 90)), min_size=1, max_size=3),
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
)
def test_what_is_agreed_for_persons_covers_two_of_them_whatever_the_increments(
    seconds: int, rates: list[tuple[int, int]], shares: list[float], chosen: tuple[int, int]
) -> None:
    agreed = CallPrice(
        0, transfer_minute=max(minute for minute, _ in rates), transfer_increment_s=max(step for _, step in rates)
    )
    times = [share * seconds for share in sorted(shares)]
    whole = 0
    for at, choice in enumerate(chosen):
        rate = PersonRate(*rates[choice % len(rates)])
        whole += rate.micros(TransferLeg(DESK, times[2 * at], times[2 * at + 1]).seconds) or 0
    assert whole <= agreed.transfers(seconds) + 1  # each is rounded up to a whole micro


def test_a_cold_transfer_costs_nothing_here_where_the_call_is_given_away() -> None:
    assert TOOLS is not None
    cold = TOOLS.replace('"to":', '"kind":"cold","to":')
    price = Price(12_000)
    with_cold = [with_transfers(price, None, carrier, cold).transfer_minute > 0 for carrier in ("sip", "twilio")]
    assert with_cold == [False, True]
    assert with_transfers(price, None, "sip", TOOLS).transfer_minute > 0
    assert with_transfers(price, None, "sip", None) == price


def test_a_talk_that_is_free_shows_what_it_used_as_not_charged() -> None:
    used = [Used("stt", "openai", "whisper-1", "second", 5)]
    cost = cost_on_line(Price(0), 30, carrier="browser", used=used, prices=None, is_told=False)
    assert [(one.item, one.micros, one.status) for one in stored_items(cost.items)] == [("stt", None, "not_charged")]
    assert cost.micros == 0
