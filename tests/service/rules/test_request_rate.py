"""The rules of rates, without any clock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.rules.request_rate import RateLimitState, capacity, nearest, of_day, of_second, refilled

RATES = st.floats(0.1, 1_000)
DAY_MS = 86_400_000


@given(RATES, st.floats(0, 1), st.integers(0, 10**12), st.integers(-10_000, 10_000))
def test_a_bucket_never_holds_more_than_a_seconds_requests_nor_loses_any(
    rate: float, part: float, since_ms: int, passed_ms: int
) -> None:
    level = part * capacity(rate)
    found = refilled(level, since_ms, since_ms + passed_ms, rate)
    assert level <= found <= capacity(rate)


@given(RATES, st.lists(st.integers(0, 300), max_size=200))
def test_in_no_second_are_there_more_requests_than_twice_the_rate(rate: float, gaps_ms: list[int]) -> None:
    level, at_ms, passed = capacity(rate), 0, list[int]()
    for gap_ms in gaps_ms:
        level, at_ms = refilled(level, at_ms, at_ms + gap_ms, rate), at_ms + gap_ms
        if level >= 1:
            level -= 1
            passed.append(at_ms)
    for begin in passed:
        assert sum(begin <= other < begin + 1_000 for other in passed) <= capacity(rate) + rate + 1


def test_a_slow_rate_still_lets_one_request_through() -> None:
    assert capacity(0.2) == 1
    assert refilled(0, 0, 4_999, 0.2) < 1
    assert refilled(0, 0, 5_000, 0.2) == 1


def test_the_reset_is_when_the_bucket_is_full_again() -> None:
    assert of_second(0.0, 5, 10_000).headers()["X-RateLimit-Reset"] == "11"
    assert of_second(5.0, 5, 10_000).headers()["X-RateLimit-Reset"] == "10"
    assert of_second(0.0, 0.2, 10_000, refused=True).headers()["X-RateLimit-Reset"] == "15"


@given(st.integers(0, 10**13), RATES, st.floats(0, 1, exclude_max=True))
def test_after_the_wait_there_is_room_and_a_second_before_it_there_was_none(
    now_ms: int, rate: float, level: float
) -> None:
    wait_s = of_second(level, rate, now_ms, refused=True).retry_after_s(now_ms)
    assert wait_s >= 1
    assert refilled(level, now_ms, now_ms + wait_s * 1_000, rate) >= 1 - 1e-6
    if wait_s > 1:
        assert refilled(level, now_ms, now_ms + (wait_s - 1) * 1_000, rate) < 1 + 1e-6


@given(st.integers(0, 10**13), st.integers(1, 10**6))
def test_a_day_that_is_used_up_is_waited_out(now_ms: int, quota: int) -> None:
    wait_s = of_day(None, quota, now_ms).retry_after_s(now_ms)
    assert 0 <= now_ms + wait_s * 1_000 - (now_ms // DAY_MS + 1) * DAY_MS < 1_000


def test_the_days_reset_is_midnight() -> None:
    assert of_day(1, 10, DAY_MS + 1) == RateLimitState(10, 9, 2 * DAY_MS, DAY_MS + 1, 86_400)
    assert of_day(10, 10, DAY_MS + 1).retry_after_s(DAY_MS + 1) == 86_400


@pytest.mark.parametrize(
    ("second", "day", "which"), [(5, 3, "day"), (3, 5, "second"), (None, 5, "day"), (5, None, "second")]
)
def test_the_limit_with_fewer_requests_left_is_told(second: int | None, day: int | None, which: str) -> None:
    both = {
        "second": None if second is None else RateLimitState(10, second, 1, 1, 1),
        "day": None if day is None else RateLimitState(10, day, 1, 1, 86_400),
    }
    assert nearest(both["second"], both["day"]) is both[which]


def test_where_nothing_is_limited_nothing_is_told() -> None:
    assert nearest(None, None) is None
