"""Caps and pauses on calls to a number, held against the plain meaning of the words."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from callwright.service.dialling.eligibility.attempts import PastCall, first_within, longest_memory_ms
from callwright.service.platform.clock.clock import HOUR
from callwright.service.rules.regions.region_rules import (
    CapRule,
    InForce,
    PauseRule,
    Region,
    RegionRules,
    Source,
)

SOURCE = Source("a test", read=True)
THREE_A_DAY = CapRule(id="*.day", region="*", source=SOURCE, most=3, hours=24)
SEVEN_A_WEEK = CapRule(id="*.week", region="*", source=SOURCE, most=7, hours=168)
AFTER_ABANDONED = PauseRule(id="GB.pause", region="GB", source=SOURCE, outcomes=("abandoned",), hours=72)
RULES = InForce(caps=(THREE_A_DAY, SEVEN_A_WEEK), pauses=(AFTER_ABANDONED,))
NOON = 500_000 * HOUR


def called(*hours_ago: float, outcome: str | None = "no_answer") -> list[PastCall]:
    return [PastCall(NOON - round(hours * HOUR), outcome) for hours in hours_ago]


def breaks(times: list[int], cap: CapRule) -> bool:
    """Whether some stretch of the cap's length has more calls than it allows."""
    return any(sum(start <= one < start + cap.hours * HOUR for one in times) > cap.most for start in times)


def test_a_number_that_was_not_called_may_be_called_at_once() -> None:
    assert first_within((), RULES, NOON) == (NOON, None)


def test_the_fourth_call_waits_until_the_first_of_three_is_a_day_old() -> None:
    assert first_within(called(2, 5, 9), RULES, NOON) == (NOON + 15 * HOUR, "*.day")


def test_the_eighth_call_waits_until_the_first_of_seven_is_a_week_old() -> None:
    past = called(*(24 * day + 1 for day in range(7)))
    assert first_within(past, RULES, NOON) == (NOON + 23 * HOUR, "*.week")


def test_a_call_that_was_abandoned_is_followed_by_a_pause() -> None:
    assert first_within(called(70, outcome="abandoned"), RULES, NOON) == (NOON + 2 * HOUR, "GB.pause")
    assert first_within(called(72, outcome="abandoned"), RULES, NOON) == (NOON, None)


def test_calls_of_another_campaign_whose_clock_is_ahead_count_too() -> None:
    ahead = called(-1, -2, -3)
    at_ms, rule = first_within(ahead, RULES, NOON)
    assert rule == "*.day"
    assert at_ms == NOON + 25 * HOUR


def test_a_call_under_way_counts_and_has_no_outcome_yet() -> None:
    assert first_within(called(1, 1.5, 2, outcome=None), RULES, NOON)[1] == "*.day"


def test_the_longest_memory_is_that_of_the_longest_rule() -> None:
    rules = (THREE_A_DAY, SEVEN_A_WEEK, AFTER_ABANDONED)
    assert longest_memory_ms(RegionRules("1", date(2026, 1, 1), {"*": Region("*", "", (), rules)})) == 168 * HOUR


@given(st.lists(st.integers(-200, 200), max_size=12, unique=True), st.integers(1, 4), st.integers(1, 48))
def test_the_moment_found_is_the_first_that_keeps_every_stretch_within_the_cap(
    hours: list[int], most: int, length: int
) -> None:
    cap = CapRule(id="a", region="*", source=SOURCE, most=most, hours=length)
    times: list[int] = []
    for hour in sorted(hours):  # only calls that kept the cap themselves
        if not breaks([*times, NOON + hour * HOUR], cap):
            times.append(NOON + hour * HOUR)
    past = [PastCall(one, "busy") for one in times]
    found, rule = first_within(past, InForce(caps=(cap,)), NOON)
    assert not breaks([*times, found], cap)
    assert (rule is None) is (found == NOON)
    assert all(breaks([*times, at], cap) for at in range(NOON, found, HOUR))
