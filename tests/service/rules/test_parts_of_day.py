"""In which part of a person's day they are called again."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from callwright.contract.deployments.dialling import IntervalsByReason, PartOfDay, RetryPolicy
from callwright.service.platform.clock.clock import DAY, MINUTE
from callwright.service.rules.parts_of_day import next_untried_ms, part_of
from callwright.service.rules.retry_policy import due_after, shortest_interval_ms

ALL: list[PartOfDay] = ["morning", "afternoon", "evening"]
NEW_YORK = "America/New_York"


def at(day: str, clock: str, zone: str = NEW_YORK) -> int:
    """The moment of a local time."""
    return round(datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=ZoneInfo(zone)).timestamp() * 1_000)


@pytest.mark.parametrize(
    ("clock", "part"),
    [
        ("08:59", None),
        ("09:00", "morning"),
        ("11:59", "morning"),
        ("12:00", "afternoon"),
        ("17:00", "evening"),
        ("19:59", "evening"),
        ("20:00", None),
    ],
)
def test_the_parts_of_a_day_are_told_by_local_time(clock: str, part: str | None) -> None:
    assert part_of(at("2026-11-26", clock), NEW_YORK) == part
    assert part_of(at("2026-11-26", clock, "Asia/Kolkata"), "Asia/Kolkata") == part


def test_the_first_part_in_which_nobody_was_called_is_next() -> None:
    tried = [at("2026-11-26", "10:00")]
    assert next_untried_ms(ALL, tried, at("2026-11-26", "10:30"), NEW_YORK) == at("2026-11-26", "12:00")
    tried.append(at("2026-11-26", "12:00"))
    assert next_untried_ms(ALL, tried, at("2026-11-26", "16:00"), NEW_YORK) == at("2026-11-26", "17:00")
    assert next_untried_ms(ALL, tried, at("2026-11-26", "18:30"), NEW_YORK) == at("2026-11-26", "18:30")
    assert next_untried_ms(ALL, tried, at("2026-11-26", "20:00"), NEW_YORK) == at("2026-11-27", "17:00")
    assert next_untried_ms(["evening", "morning"], [], at("2026-11-26", "10:00"), NEW_YORK) == at("2026-11-26", "17:00")


def test_once_each_part_was_tried_none_is_next() -> None:
    tried = [at("2026-11-26", clock) for clock in ("10:00", "13:00", "18:00")]
    assert next_untried_ms(ALL, tried, at("2026-11-27", "10:00"), NEW_YORK) is None


@pytest.mark.parametrize(
    ("before", "after", "hours"), [("2026-03-07", "2026-03-08", 23), ("2026-10-31", "2026-11-01", 25)]
)
def test_the_morning_after_the_clocks_change_begins_at_nine_by_the_new_time(
    before: str, after: str, hours: int
) -> None:
    due = next_untried_ms(ALL, [], at(before, "20:00"), NEW_YORK)
    assert due == at(after, "09:00")
    assert at(after, "09:00") - at(before, "09:00") == hours * 60 * MINUTE


def test_a_retry_after_no_answer_waits_for_its_part_and_keeps_to_the_daily_limit() -> None:
    policy = RetryPolicy(parts_of_day=ALL, interval_minutes=[60], max_attempts_per_day=2)
    first, second = at("2026-11-26", "10:00"), at("2026-11-26", "12:00")
    assert due_after(policy, "no_answer", [first], first, NEW_YORK) == second
    assert due_after(policy, "no_answer", [first, second], second, NEW_YORK) == at("2026-11-27", "17:00")
    assert due_after(policy, "failed", [first], first, NEW_YORK) == first + 60 * MINUTE


@pytest.mark.requirement("STOP-10")
def test_each_reason_may_have_its_own_intervals() -> None:
    own = IntervalsByReason(no_answer=[30, 90], voicemail=[1_440])
    policy = RetryPolicy(intervals_by_reason=own, different_time_of_day=False, max_attempts_per_day=10)
    start = at("2026-11-26", "10:00")
    assert due_after(policy, "no_answer", [start], start) == start + 30 * MINUTE
    assert due_after(policy, "no_answer", [start, start], start) == start + 90 * MINUTE
    assert due_after(policy, "voicemail", [start], start) == start + DAY
    assert due_after(policy, "failed", [start], start) == start + 240 * MINUTE
    assert shortest_interval_ms(policy) == 10 * MINUTE


def test_a_part_that_is_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="parts_of_day names a part twice"):
        RetryPolicy(parts_of_day=["morning", "morning"])
