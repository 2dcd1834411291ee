"""The order of the gate, and what it says of each refusal."""

import json
from datetime import UTC, datetime

import pytest

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Window
from callwright.service.dialling.eligibility.attempts import PastCall
from callwright.service.dialling.eligibility.campaign_hours import CampaignHours, state_cell
from callwright.service.dialling.eligibility.gate import (
    Allowed,
    Candidate,
    Decision,
    Deferred,
    Never,
    NeverReason,
    gate,
)
from callwright.service.platform.clock.clock import HOUR, milliseconds, moment
from callwright.service.rules.regions.region_rules import Purpose
from callwright.service.rules.regions.rule_file import shipped_rules

FLORIDA, BERLIN, TOLL_FREE = "+13055550100", "+493055500100", "+18005550100"


def at(text: str) -> int:
    return milliseconds(datetime.fromisoformat(text).replace(tzinfo=UTC))


NOON = at("2027-03-03T17:00")
"""A Wednesday, noon in New York."""


def asked(
    at_ms: int,
    *,
    phone: str = FLORIDA,
    hours: CallingHours | None = None,
    purpose: Purpose = "informational",
    blocked: NeverReason | None = None,
    past: tuple[PastCall, ...] = (),
    consents: bool = False,
    cells: str = "{}",
    timezone: str | None = None,
) -> Decision:
    """What the gate says by the shipped rules."""
    open_hours = CampaignHours(shipped_rules(), hours, purpose).of_person(phone, timezone, cells)
    return gate(Candidate("ctc_1", phone, at_ms, open_hours, blocked, past, consents), at_ms)


def test_at_noon_a_person_is_called() -> None:
    assert asked(NOON) == Allowed()


@pytest.mark.parametrize("phone", ["+19005550100", "+112", "+4990012345", "+44870123456789012"])
def test_a_number_that_cannot_be_dialled_is_never_called(phone: str) -> None:
    assert asked(NOON, phone=phone) == Never("not_dialable", "not_dialable")


def test_the_do_not_call_list_comes_before_the_hours() -> None:
    assert asked(at("2027-03-07T03:00"), blocked="do_not_call") == Never("do_not_call", "do_not_call")


def test_marketing_needs_consent_where_the_region_asks_for_it() -> None:
    decision = asked(NOON, purpose="marketing")
    assert isinstance(decision, Never)
    assert decision.reason == "no_consent"
    assert decision.rule.endswith(".consent")
    assert asked(NOON, purpose="marketing", consents=True) == Allowed()


def test_a_person_is_deferred_to_the_first_moment_that_hours_and_caps_both_allow() -> None:
    past = tuple(PastCall(NOON - hours * HOUR, "busy") for hours in (1, 2, 3))
    assert asked(NOON, past=past) == Deferred(NOON + 21 * HOUR, "*.caps-day")
    evening = tuple(PastCall(at("2027-03-03T01:30") + hours * HOUR, "busy") for hours in (0, 15, 16))
    decision = asked(at("2027-03-03T19:00"), past=evening)
    assert isinstance(decision, Deferred)
    assert decision.rule == "*.caps-day"
    assert f"{moment(decision.until_ms):%d %H:%M}" == "04 14:00", (
        "the cap ends at 20:30 in Florida, and nine o'clock comes later"
    )


def test_on_a_holiday_nobody_is_called_and_the_rule_is_named() -> None:
    decision = asked(at("2026-11-26T17:00"))
    assert isinstance(decision, Deferred)
    assert decision.rule.endswith(".holidays")


def test_hours_that_leave_no_moment_suppress() -> None:
    nights = CallingHours(windows=[Window(days=list(WEEKDAYS), start="02:00", end="03:00")])
    decision = asked(NOON, hours=nights)
    assert isinstance(decision, Never)
    assert decision.reason == "calling_hours"


def test_a_toll_free_number_is_called_only_when_the_whole_country_may_be() -> None:
    assert isinstance(asked(at("2027-03-03T15:00"), phone=TOLL_FREE), Deferred)
    assert asked(at("2027-03-03T20:30"), phone=TOLL_FREE) == Allowed()


def test_the_zone_of_fixed_hours_and_a_fallback_zone_are_not_where_a_person_is_whose_state_or_country_is_known() -> (
    None
):
    midday = at("2026-09-16T03:00")  # in Australia; night in London
    windows = [Window(days=list(WEEKDAYS), start="00:00", end="24:00")]
    fixed = CallingHours(timezone_mode="fixed", timezone="Europe/London", windows=windows)
    fallback = CallingHours(timezone="Europe/London", windows=windows)
    assert asked(midday, phone="+61412345678", hours=fixed) == Allowed()
    assert asked(midday, phone="+61412345678", hours=fallback, cells='{"state": "QLD"}') == Allowed()
    assert isinstance(asked(midday, phone="+61412345678", hours=fallback), Deferred)


def test_a_timezone_of_the_list_wins_over_that_of_the_number() -> None:
    early = at("2027-03-03T14:30")
    assert asked(early) == Allowed()
    assert isinstance(asked(early, timezone="America/Los_Angeles"), Deferred)


def test_a_state_of_the_list_wins_over_the_area_code() -> None:
    sunday = at("2027-03-07T17:00")
    every_day = CallingHours(windows=[Window(days=list(WEEKDAYS), start="00:00", end="24:00")])
    decision = asked(sunday, hours=every_day, cells='{"State": "RI"}', purpose="survey")
    assert isinstance(decision, Deferred)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "state",
            "STATE",
            "US_State",
            "state_code",
            "Province",
            "Bundesland",
            "Provinz",
            "Etat",
            "État",
            "E\u0301tat",
        ),
        *("State/Province", "state / province", "Province/State", "Mailing State/Province", "Billing State"),
        *("State (US)", "Mailing  State"),
    ],
)
def test_the_state_is_read_from_columns_as_customer_systems_name_them(name: str) -> None:
    assert state_cell(json.dumps({"first_name": "Kim", name: "RI"}, ensure_ascii=False)) == (name, "RI")
    assert state_cell(json.dumps({name: "RI"})) == (name, "RI")


def test_the_state_is_read_from_the_first_column_that_says_something() -> None:
    assert state_cell('{"estate": "RI", "state": "", "status": "open"}') is None
    assert state_cell('{"Billing State": "NY", "Mailing State": "RI"}') == ("Mailing State", "RI")
    assert state_cell('{"Billing State": "NY", "Mailing State": "n/a", "state": "-"}') == ("Billing State", "NY")
