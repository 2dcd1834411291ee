"""When a person may be called, held against a walk over every quarter of an hour of the local clock."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Window
from callwright.service.platform.clock.clock import HOUR, MINUTE, milliseconds, moment
from tests.support.open_hours import first_allowed

NEW_YORK, BERLIN, KOLKATA = "America/New_York", "Europe/Berlin", "Asia/Kolkata"
CHANGES = {
    "New York springs forward": (NEW_YORK, datetime(2026, 3, 8, 7, tzinfo=UTC)),
    "New York falls back": (NEW_YORK, datetime(2026, 11, 1, 6, tzinfo=UTC)),
    "Berlin springs forward": (BERLIN, datetime(2026, 3, 29, 1, tzinfo=UTC)),
    "Berlin falls back": (BERLIN, datetime(2026, 10, 25, 1, tzinfo=UTC)),
    "Santiago springs forward at midnight": ("America/Santiago", datetime(2026, 9, 6, 4, tzinfo=UTC)),
    "Santiago falls back at midnight": ("America/Santiago", datetime(2026, 4, 5, 3, tzinfo=UTC)),
}
QUARTER_MS = 15 * MINUTE
QUARTERS = st.integers(0, 96)


def hours(*windows: Window, zone: str | None = None) -> CallingHours:
    return CallingHours(windows=list(windows), timezone=zone)


def daily(start: str, end: str) -> CallingHours:
    return hours(Window(days=list(WEEKDAYS), start=start, end=end))


def at(text: str, zone: str = "UTC") -> int:
    """A local moment in milliseconds."""
    return milliseconds(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)))


def local(ms: int | None, zone: str) -> str:
    """A moment on the wall clock of a zone."""
    assert ms is not None
    return moment(ms).astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M")


def allowed(rules: CallingHours, zone: str, ms: int) -> bool:
    """Whether the wall clock of a zone shows a time inside a window, by the plain meaning of the words."""
    there = moment(ms).astimezone(ZoneInfo(zone))
    minutes = there.hour * 60 + there.minute

    def minute(text: str) -> int:
        return int(text[:2]) * 60 + int(text[3:])

    return any(
        WEEKDAYS[there.weekday()] in window.days and minute(window.start) <= minutes < minute(window.end)
        for window in rules.windows
    )


@st.composite
def windows(draw: st.DrawFn) -> Window:
    """A window on quarters of an hour."""
    start, end = sorted(draw(st.lists(QUARTERS, min_size=2, max_size=2, unique=True)))
    days = draw(st.lists(st.sampled_from(WEEKDAYS), min_size=1, max_size=7, unique=True))
    clock = [f"{quarter // 4:02d}:{quarter % 4 * 15:02d}" for quarter in (start, end)]
    return Window(days=days, start=clock[0], end=clock[1])


@pytest.mark.parametrize("change", list(CHANGES))
@settings(max_examples=40)
@given(rules=st.lists(windows(), min_size=1, max_size=3), quarters=st.integers(-200, 200), odd=st.integers(0, 899_999))
def test_round_a_change_of_the_clock_the_first_allowed_quarter_is_found(
    change: str, rules: list[Window], quarters: int, odd: int
) -> None:
    zone, changes_at = CHANGES[change]
    made = hours(*rules)
    begin = milliseconds(changes_at) + quarters * QUARTER_MS + odd
    found = first_allowed(made, [zone], begin)
    steps = (begin, *range(begin - begin % QUARTER_MS + QUARTER_MS, begin + 7 * 24 * HOUR, QUARTER_MS))
    expected = next((step for step in steps if allowed(made, zone, step)), None)
    if expected is not None:
        assert found == expected, (local(found, zone), local(expected, zone))
    else:
        assert found is None or found >= begin + 7 * 24 * HOUR


@settings(max_examples=60)
@given(
    first=windows(), second=windows(), quarters=st.integers(0, 700), zones=st.permutations([NEW_YORK, BERLIN, KOLKATA])
)
def test_with_several_zones_every_one_of_them_allows_the_moment(
    first: Window, second: Window, quarters: int, zones: list[str]
) -> None:
    made, begin = hours(first, second), at("2026-03-27T00:00") + quarters * QUARTER_MS
    found = first_allowed(made, zones, begin)
    week = range(begin, begin + 7 * 24 * HOUR, QUARTER_MS)
    expected = next((step for step in week if all(allowed(made, zone, step) for zone in zones)), None)
    if expected is not None:
        assert found == expected
    else:
        assert found is None or all(allowed(made, zone, found) for zone in zones)


def test_without_hours_anything_goes() -> None:
    assert first_allowed(None, [NEW_YORK], 7) == 7


def test_a_window_is_half_open() -> None:
    rules = daily("09:00", "17:00")
    for text, expected in (
        ("2026-06-01T09:00", "2026-06-01 09:00"),
        ("2026-06-01T08:59", "2026-06-01 09:00"),
        ("2026-06-01T16:59", "2026-06-01 16:59"),
        ("2026-06-01T17:00", "2026-06-02 09:00"),
    ):
        assert local(first_allowed(rules, [NEW_YORK], at(text, NEW_YORK)), NEW_YORK) == expected
    just_before = at("2026-06-01T17:00", NEW_YORK) - 1
    assert first_allowed(rules, [NEW_YORK], just_before) == just_before


def test_a_window_may_last_to_the_end_of_the_day() -> None:
    rules = daily("22:00", "24:00")
    last = at("2026-06-01T23:59", BERLIN) + 59_999
    assert first_allowed(rules, [BERLIN], last) == last
    assert local(first_allowed(rules, [BERLIN], last + 1), BERLIN) == "2026-06-02 22:00"


@pytest.mark.parametrize(
    ("rules", "zone", "begin", "expected"),
    [
        (daily("02:30", "04:00"), NEW_YORK, "2026-03-08T00:00", "2026-03-08 03:00"),
        (daily("01:00", "02:30"), NEW_YORK, "2026-03-08T03:10", "2026-03-09 01:00"),
        (daily("02:00", "03:00"), NEW_YORK, "2026-03-08T00:00", "2026-03-09 02:00"),
        (daily("02:15", "02:45"), BERLIN, "2026-03-29T00:00", "2026-03-30 02:15"),
        (daily("09:00", "17:00"), BERLIN, "2026-03-29T00:00", "2026-03-29 09:00"),
        (daily("09:00", "17:00"), BERLIN, "2026-10-25T18:00", "2026-10-26 09:00"),
    ],
)
def test_an_hour_that_the_clock_skips_does_not_exist(rules: CallingHours, zone: str, begin: str, expected: str) -> None:
    assert local(first_allowed(rules, [zone], at(begin, zone)), zone) == expected


def test_an_hour_that_comes_twice_is_allowed_both_times() -> None:
    rules, begin = daily("01:15", "01:45"), at("2026-11-01T00:00", NEW_YORK)
    first = first_allowed(rules, [NEW_YORK], begin)
    assert first == milliseconds(datetime(2026, 11, 1, 5, 15, tzinfo=UTC))
    second = first_allowed(rules, [NEW_YORK], milliseconds(datetime(2026, 11, 1, 5, 45, tzinfo=UTC)))
    assert second == milliseconds(datetime(2026, 11, 1, 6, 15, tzinfo=UTC))


def test_zones_whose_windows_never_meet_allow_no_moment() -> None:
    rules = daily("09:00", "10:00")
    assert first_allowed(rules, [NEW_YORK, KOLKATA], at("2026-06-01T00:00")) is None


def test_a_window_of_one_weekday_is_found_a_week_ahead() -> None:
    rules = hours(Window(days=["mon"], start="09:00", end="10:00"))
    assert local(first_allowed(rules, [BERLIN], at("2026-06-01T10:00", BERLIN)), BERLIN) == "2026-06-08 09:00"


def test_zones_whose_weekly_windows_never_meet_allow_no_moment() -> None:
    rules = hours(Window(days=["mon"], start="00:00", end="00:15"))
    assert first_allowed(rules, [NEW_YORK, KOLKATA], at("2026-06-01T00:00")) is None
