"""When calling would be over, held against windows, weekends and changes of the clock."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Weekday, Window
from callwright.service.platform.clock.clock import DAY, HOUR, MINUTE, milliseconds, moment
from tests.support.open_hours import finish, first_allowed

NEW_YORK, BERLIN = "America/New_York", "Europe/Berlin"
WORKDAYS: list[Weekday] = ["mon", "tue", "wed", "thu", "fri"]


def hours(*windows: tuple[list[Weekday], str, str]) -> CallingHours:
    return CallingHours(windows=[Window(days=days, start=start, end=end) for days, start, end in windows])


OFFICE = hours((WORKDAYS, "09:00", "18:00"))


def at(text: str, zone: str = "UTC") -> int:
    """A local moment in milliseconds; 2026-11-27 is a Friday."""
    return milliseconds(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)))


@pytest.mark.parametrize(
    ("begin", "calling", "end"),
    [
        ("2026-11-27T10:00", 2 * HOUR, "2026-11-27T12:00"),
        ("2026-11-27T17:00", 1 * HOUR, "2026-11-27T18:00"),
        ("2026-11-27T17:00", 2 * HOUR, "2026-11-30T10:00"),
        ("2026-11-27T17:00", 12 * HOUR, "2026-12-01T11:00"),
        ("2026-11-28T12:00", 30 * MINUTE, "2026-11-30T09:30"),
        ("2026-11-27T06:00", 30 * MINUTE, "2026-11-27T09:30"),
        ("2026-11-27T18:00", 30 * MINUTE, "2026-11-30T09:30"),
    ],
)
def test_calling_goes_on_after_the_night_and_after_the_weekend(begin: str, calling: int, end: str) -> None:
    assert finish(at(begin, BERLIN), calling, OFFICE, (BERLIN,)) == at(end, BERLIN)


def test_without_hours_calling_goes_on_at_night() -> None:
    assert finish(at("2026-11-27T17:00"), 20 * HOUR, None, ["UTC"]) == at("2026-11-28T13:00")


def test_where_several_zones_must_allow_it_only_their_common_hours_count() -> None:
    begin = at("2026-11-27T09:00", BERLIN)  # New York opens at 15:00 in Berlin
    assert finish(begin, 3 * HOUR, OFFICE, (BERLIN, NEW_YORK)) == at("2026-11-27T18:00", BERLIN)
    assert finish(begin, 4 * HOUR, OFFICE, (NEW_YORK, BERLIN)) == at("2026-11-30T16:00", BERLIN)


def test_windows_that_touch_or_overlap_are_one() -> None:
    touching = hours((["mon"], "09:00", "12:00"), (["mon"], "12:00", "14:00"), (["mon"], "10:00", "13:00"))
    assert finish(at("2026-11-30T09:00"), 5 * HOUR, touching, ("UTC",)) == at("2026-11-30T14:00")
    assert finish(at("2026-11-30T09:00"), 5 * HOUR + 1, touching, ("UTC",)) == at("2026-12-07T09:00") + 1


def test_a_window_up_to_24_00_ends_at_midnight() -> None:
    late = hours((["mon", "tue"], "23:00", "24:00"))
    assert finish(at("2026-11-30T23:30"), 45 * MINUTE, late, ("UTC",)) == at("2026-12-01T23:15")


def test_a_day_on_which_the_clock_goes_forward_is_an_hour_shorter() -> None:
    all_day = hours((list(WEEKDAYS), "00:00", "24:00"))
    begin = at("2026-03-29T00:00", BERLIN)
    assert finish(begin, 24 * HOUR, all_day, (BERLIN,)) == at("2026-03-30T01:00", BERLIN)


def test_nothing_is_said_of_what_is_more_than_100_days_ahead_or_never() -> None:
    assert finish(at("2026-11-27T10:00"), 101 * DAY, None, ["UTC"]) is None
    assert finish(at("2026-11-27T10:00"), 100 * DAY, OFFICE, (BERLIN,)) is None
    morning = hours((["mon"], "09:00", "10:00"))
    assert finish(at("2026-11-27T10:00"), 1, morning, (NEW_YORK, "Asia/Tokyo")) is None


@settings(max_examples=60)
@given(begin=st.integers(0, 14 * 24 * 4), calling=st.integers(1, 60), zone=st.sampled_from([NEW_YORK, BERLIN, "UTC"]))
def test_as_much_calling_fits_as_quarters_of_an_hour_are_allowed(begin: int, calling: int, zone: str) -> None:
    rules = hours((WORKDAYS, "09:00", "12:00"), (["sat", "mon"], "11:30", "15:15"))
    start = at("2026-10-20T00:00") + begin * 15 * MINUTE  # across the autumn's changes of the clock
    ends = finish(start, calling * 15 * MINUTE, rules, (zone,))
    quarter, left = start, calling
    while left:
        left -= first_allowed(rules, (zone,), quarter) == quarter
        quarter += 15 * MINUTE
    assert ends is not None
    assert moment(ends) == moment(quarter)
