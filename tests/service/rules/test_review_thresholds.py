"""When answered calls give a reason for a review."""

import pytest

from callwright.service.platform.clock.clock import DAY, HOUR
from callwright.service.rules.review_thresholds import AnsweredCall, Finding, opt_outs, short_calls, since_approval

NOW_MS = 1_795_262_400_000


def calls(count: int, *, opted_out: int = 0, short: int = 0, ended_ms: int = NOW_MS) -> list[AnsweredCall]:
    """Calls of a minute each, of which the first opted out, or were short."""
    return [AnsweredCall(ended_ms, 5_999 if index < short else 60_000, index < opted_out) for index in range(count)]


@pytest.mark.parametrize(
    ("found", "finding"),
    [
        (calls(19, opted_out=19), None),
        (calls(20, opted_out=2), None),
        (calls(20, opted_out=3), Finding("opt_out_rate", 20, 3)),
        (calls(200, opted_out=20), None),
        (calls(200, opted_out=21), Finding("opt_out_rate", 200, 21)),
        ([*calls(200), *calls(50, opted_out=50)], None),
        ([], None),
    ],
)
def test_more_than_ten_per_cent_of_twenty_to_two_hundred_calls_are_too_many_opt_outs(
    found: list[AnsweredCall], finding: Finding | None
) -> None:
    assert opt_outs(found) == finding


@pytest.mark.parametrize(
    ("found", "finding"),
    [
        (calls(19, short=19), None),
        (calls(20, short=8), None),
        (calls(20, short=9), Finding("short_calls", 20, 9)),
        ([*calls(19, short=19), *calls(30, short=30, ended_ms=NOW_MS - DAY)], None),
        ([*calls(19, short=19), *calls(1, short=1, ended_ms=NOW_MS - 23 * HOUR)], Finding("short_calls", 20, 20)),
        ([AnsweredCall(NOW_MS, 6_000, False)] * 20, None),
        ([], None),
    ],
)
def test_more_than_forty_per_cent_of_a_days_calls_below_six_seconds_are_too_many(
    found: list[AnsweredCall], finding: Finding | None
) -> None:
    assert short_calls(found) == finding


def test_an_approval_holds_until_enough_calls_have_followed() -> None:
    assert since_approval("opt_out_rate", 500, None) == 200
    assert since_approval("opt_out_rate", 219, 20) == 0
    assert since_approval("opt_out_rate", 220, 20) == 200
    assert since_approval("short_calls", 39, 20) == 0
    assert since_approval("short_calls", 45, 20) == 25
    assert since_approval("short_calls", 900, 20) == 200
