"""The rules of rates, without any clock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.domain.request_rate import Standing, capacity, nearest, of_day, of_second, refilled

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
    assert of_second(0.0, 5, 10_000).reset_s == 11
    assert of_second(5.0, 5, 10_000).reset_s == 10
    assert of_second(None, 0.2, 10_000).reset_s == 15


@given(st.integers(0, 10**13), st.integers(1, 10**6))
def test_a_wait_is_a_whole_second_at_least_and_never_ends_before_the_reset(now_ms: int, quota: int) -> None:
    for standing in (of_day(None, quota, now_ms), of_second(None, quota, now_ms)):
        wait_s = standing.wait_s(now_ms)
        assert wait_s >= 1
        assert now_ms // 1_000 + wait_s >= standing.reset_s


def test_the_days_reset_is_midnight() -> None:
    assert of_day(1, 10, DAY_MS + 1) == Standing(10, 9, 2 * 86_400, 86_400)


@pytest.mark.parametrize(
    ("second", "day", "which"),
    [(5, 3, "day"), (3, 5, "second"), (None, 5, "day"), (5, None, "second")],
)
def test_the_limit_with_fewer_requests_left_is_told(second: int | None, day: int | None, which: str) -> None:
    both = {
        "second": None if second is None else Standing(10, second, 1, 1),
        "day": None if day is None else Standing(10, day, 1, 86_400),
    }
    assert nearest(both["second"], both["day"]) is both[which]


def test_where_nothing_is_limited_nothing_is_told() -> None:
    assert nearest(None, None) is None
