"""When calling would be over of which only so much is allowed within 24 hours, held against calls one by one."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Window
from callwright.service.platform.clock.clock import DAY, HOUR, MINUTE
from callwright.service.rules.capped_calling import CappedCalling
from callwright.service.rules.open_hours import OpenHours
from tests.support.open_hours import hours_in

FRIDAY = 1_795_773_600_000
"""2026-11-27T10:00:00Z."""


def daily(start: str, end: str, days: Sequence[str] = WEEKDAYS) -> OpenHours:
    windows = [Window.model_validate({"days": list(days), "start": start, "end": end})]
    return hours_in(["UTC"], CallingHours(windows=windows))


def called_one_by_one(begin_ms: int, calls: int, gap_ms: int, most: int, hours: OpenHours) -> int | None:
    """When the last of so many calls is over, each of which takes `gap_ms`, at most so many within any 24 hours."""
    made: list[int] = []
    for index in range(calls):
        wanted_ms = begin_ms if not made else made[-1] + gap_ms
        at_ms = hours.first(wanted_ms if index < most else max(wanted_ms, made[index - most] + DAY))
        if at_ms is None or at_ms > begin_ms + 95 * DAY:
            return None
        made.append(at_ms)
    return made[-1] + gap_ms


@pytest.mark.parametrize(
    ("calling", "allowed", "end"),
    [
        (2 * HOUR, 3 * HOUR, FRIDAY + 2 * HOUR),
        (3 * HOUR, 3 * HOUR, FRIDAY + 3 * HOUR),
        (4 * HOUR, 3 * HOUR, FRIDAY + DAY + HOUR),
        (9 * HOUR, 3 * HOUR, FRIDAY + 2 * DAY + 3 * HOUR),
    ],
)
def test_calling_beyond_what_is_allowed_goes_on_24_hours_after_it_began(calling: int, allowed: int, end: int) -> None:
    assert CappedCalling([(FRIDAY, allowed)]).finish_ms(FRIDAY, calling, daily("09:00", "18:00")) == end


def test_what_was_called_before_is_allowed_again_when_it_does_not_count_any_more() -> None:
    capped = CappedCalling([(FRIDAY, HOUR), (FRIDAY + 3 * HOUR, HOUR)])
    assert capped.finish_ms(FRIDAY, 2 * HOUR, daily("09:00", "18:00")) == FRIDAY + 4 * HOUR


def test_calling_that_goes_on_later_counts_what_went_before() -> None:
    capped, hours = CappedCalling([(FRIDAY, 2 * HOUR)]), daily("09:00", "18:00")
    assert capped.finish_ms(FRIDAY, HOUR, hours) == FRIDAY + HOUR
    assert capped.finish_ms(FRIDAY + 2 * HOUR, 2 * HOUR, hours) == FRIDAY + DAY + HOUR


def test_calling_of_more_than_a_hundred_days_has_no_end() -> None:
    assert CappedCalling([(FRIDAY, MINUTE)]).finish_ms(FRIDAY, 101 * MINUTE, daily("09:00", "18:00")) is None


def test_within_an_end_so_much_is_possible_as_every_24_hours_allow() -> None:
    spans = [(FRIDAY, FRIDAY + 3 * HOUR), (FRIDAY + DAY, FRIDAY + DAY + MINUTE), (FRIDAY + 2 * DAY, FRIDAY + 3 * DAY)]
    assert CappedCalling([(FRIDAY, HOUR)]).within_ms(spans) == 2 * HOUR + MINUTE


@settings(max_examples=200, deadline=None)
@given(
    calls=st.integers(1, 200),
    most=st.integers(1, 40),
    begins=st.integers(0, 23),
    length=st.integers(1, 23),
    days=st.lists(st.sampled_from(WEEKDAYS), min_size=1, unique=True),
)
def test_it_ends_when_calls_end_that_are_made_one_by_one(
    calls: int, most: int, begins: int, length: int, days: list[str]
) -> None:
    gap_ms = 20 * MINUTE
    hours = daily(f"{begins:02d}:00", f"{min(begins + length, 24):02d}:00", days)
    made_ms = called_one_by_one(FRIDAY, calls, gap_ms, most, hours)
    found_ms = CappedCalling([(FRIDAY, gap_ms * most)]).finish_ms(FRIDAY, calls * gap_ms, hours)
    if made_ms is None or found_ms is None:
        return
    assert found_ms == made_ms
