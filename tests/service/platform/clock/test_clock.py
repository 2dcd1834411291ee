"""The clock, and moments in their forms."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from callwright.service.platform.clock.clock import SystemClock, iso_milliseconds, milliseconds, moment, moment_or_none

MOMENTS = st.integers(0, 253_370_764_799_999)
"""From 1970 to the end of 9998, in milliseconds."""


def test_the_clock_shows_the_walls_time_in_milliseconds() -> None:
    assert SystemClock(wall=lambda: 1_800_000_000.1234).now_ms() == 1_800_000_000_123


def test_a_clock_that_begins_elsewhere_runs_on_from_there() -> None:
    wall = iter([1_000.0, 1_000.0, 1_001.5])
    clock = SystemClock(5_000_000, wall=lambda: next(wall))
    assert [clock.now_ms(), clock.now_ms()] == [5_000_000, 5_001_500]


@given(MOMENTS)
def test_a_moment_survives_the_way_there_and_back(ms: int) -> None:
    assert milliseconds(moment(ms)) == ms
    assert moment(ms).tzinfo is UTC


@given(MOMENTS, st.integers(-14 * 60, 14 * 60))
def test_the_zone_of_a_moment_does_not_matter(ms: int, minutes: int) -> None:
    if ms > 10**9:
        elsewhere = moment(ms).astimezone(timezone(timedelta(minutes=minutes)))
        assert milliseconds(elsewhere) == ms


@given(MOMENTS)
def test_the_form_of_events_has_three_places(ms: int) -> None:
    text = iso_milliseconds(ms)
    assert len(text) == 24
    assert milliseconds(datetime.fromisoformat(text)) == ms


def test_no_moment_stays_none() -> None:
    assert moment_or_none(None) is None
    assert moment_or_none(0) == datetime(1970, 1, 1, tzinfo=UTC)
