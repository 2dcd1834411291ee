"""What becomes of a contact after a call."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.contract.calls.calls import OUTCOMES
from callwright.contract.deployments.dialling import RetryPolicy, RetryReason
from callwright.service.platform.clock.clock import DAY, HOUR, MINUTE
from callwright.service.rules.retry_policy import (
    CALLBACK_MINUTES,
    Step,
    after_call,
    due_after,
    reason_of,
    shortest_interval_ms,
    within_daily_limit,
)

NOON = 1_800_000_000_000
PLAIN = RetryPolicy(different_time_of_day=False, max_attempts_per_day=10, interval_minutes=[60, 120])


def after(policy: RetryPolicy, outcome: str, *, attempts: int = 1, **fields: Any) -> Step:
    """The step after the last of so many calls, an hour apart and each half a minute long."""
    times = [NOON + index * HOUR for index in range(attempts)]
    given_: dict[str, Any] = {"disposition": None, "duration_s": 30.0, "callback_ms": None, **fields}
    return after_call(policy, outcome=outcome, attempt_times_ms=times, ended_ms=times[-1] + 30_000, **given_)


@pytest.mark.parametrize("outcome", ["no_answer", "busy", "failed", "unreachable", "abandoned"])
def test_what_the_policy_names_is_tried_again_until_the_attempts_are_used_up(outcome: str) -> None:
    assert after(PLAIN, outcome).state == "retry_waiting"
    assert after(PLAIN, outcome, attempts=2).state == "retry_waiting"
    assert after(PLAIN, outcome, attempts=3) == Step("exhausted")
    nothing = PLAIN.model_copy(update={"retry_on": []})
    assert after(nothing, outcome) == Step("exhausted")


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        ("answered", "completed"),
        ("transferred", "completed"),
        ("voicemail_left", "completed"),
        ("voicemail", "exhausted"),
        ("rejected", "exhausted"),
        ("invalid_number", "exhausted"),
        ("fax_or_ivr", "exhausted"),
        ("blocked", "exhausted"),
    ],
)
def test_what_the_policy_does_not_name_ends_it(outcome: str, state: str) -> None:
    assert after(RetryPolicy(), outcome) == Step(state)  # pyright: ignore[reportArgumentType]  # a literal of the table


def test_an_invalid_number_is_never_called_again_whatever_the_policy_says() -> None:
    everything = RetryPolicy(retry_on=list(get_args(RetryReason)), max_attempts=10)
    assert after(everything, "invalid_number") == Step("exhausted")
    for outcome in ("voicemail", "rejected"):
        assert after(everything, outcome).state == "retry_waiting"


@pytest.mark.parametrize("outcome", ["answered", "voicemail", "no_answer", "transferred"])
def test_whoever_asks_not_to_be_called_is_not_called_again(outcome: str) -> None:
    everything = RetryPolicy(retry_on=list(get_args(RetryReason)), max_attempts=10)
    step = after(everything, outcome, disposition="do_not_call", callback_ms=NOON + HOUR, duration_s=1.0)
    assert step == Step("suppressed")


def test_a_short_call_is_tried_again_only_when_the_policy_says_so_and_nothing_came_of_it() -> None:
    short = PLAIN.model_copy(update={"retry_on": ["short_call"]})
    assert after(short, "answered", duration_s=9.9).state == "retry_waiting"
    assert after(short, "answered", duration_s=9.9, disposition="incomplete").state == "retry_waiting"
    assert after(short, "answered", duration_s=9.9, disposition="goal_met") == Step("completed")
    assert after(short, "answered", duration_s=10.0) == Step("completed")
    assert after(short, "answered", duration_s=9.9, attempts=3) == Step("completed")
    assert after(PLAIN, "answered", duration_s=9.9) == Step("completed")
    assert reason_of("answered", 9.9, PLAIN) == "short_call"


def test_a_requested_call_back_is_kept_while_an_attempt_is_left() -> None:
    asked = NOON + 3 * DAY
    assert after(PLAIN, "answered", callback_ms=asked) == Step("retry_waiting", asked)
    assert after(PLAIN, "answered", attempts=3, callback_ms=asked) == Step("completed", reason="callback_not_possible")


def test_intervals_are_taken_in_turn_and_the_last_one_repeats() -> None:
    ends = [NOON + index * HOUR + 30_000 for index in range(4)]
    policy = PLAIN.model_copy(update={"max_attempts": 10})
    due = [after(policy, "no_answer", attempts=count).due_ms for count in (1, 2, 3, 4)]
    assert due == [end + minutes * MINUTE for end, minutes in zip(ends, (60, 120, 120, 120), strict=True)]


def test_a_busy_number_is_tried_again_after_the_busy_interval() -> None:
    assert after(PLAIN, "busy").due_ms == NOON + 30_000 + 15 * MINUTE


def test_the_same_time_of_day_is_avoided_when_the_policy_says_so() -> None:
    policy = RetryPolicy(interval_minutes=[1_440], max_attempts_per_day=10)
    moved = due_after(policy, "no_answer", [NOON], NOON + 30_000)
    assert moved == NOON + 30_000 + DAY + 4 * HOUR
    apart = RetryPolicy(interval_minutes=[240], max_attempts_per_day=10)
    assert due_after(apart, "no_answer", [NOON], NOON) == NOON + 4 * HOUR
    same = policy.model_copy(update={"different_time_of_day": False})
    assert due_after(same, "no_answer", [NOON], NOON) == NOON + DAY


def test_no_24_hours_hold_more_attempts_than_allowed() -> None:
    twice = PLAIN.model_copy(update={"max_attempts_per_day": 2})
    assert within_daily_limit(twice, [NOON], NOON + HOUR) == NOON + HOUR
    assert within_daily_limit(twice, [NOON, NOON + HOUR], NOON + 2 * HOUR) == NOON + DAY
    assert within_daily_limit(twice, [NOON, NOON + HOUR], NOON + 2 * DAY) == NOON + 2 * DAY
    once = PLAIN.model_copy(update={"max_attempts_per_day": 1})
    assert after(once, "busy").due_ms == NOON + DAY


POLICIES = st.builds(
    RetryPolicy,
    max_attempts=st.integers(1, 10),
    interval_minutes=st.lists(st.integers(10, 4_320), min_size=1, max_size=9),
    busy_interval_minutes=st.integers(5, 4_320),
    retry_on=st.lists(st.sampled_from(get_args(RetryReason)), max_size=6, unique=True),
    max_attempts_per_day=st.integers(1, 10),
    different_time_of_day=st.booleans(),
)


@given(
    policy=POLICIES,
    outcomes=st.lists(st.sampled_from(OUTCOMES), min_size=12, max_size=12),
    durations=st.lists(st.floats(0, 60), min_size=12, max_size=12),
    callbacks=st.lists(st.one_of(st.none(), st.integers(CALLBACK_MINUTES, 5_000)), min_size=12, max_size=12),
)
def test_every_history_ends_within_its_limits(
    policy: RetryPolicy, outcomes: list[str], durations: list[float], callbacks: list[int | None]
) -> None:
    times, due = list[int](), NOON
    for outcome, duration_s, callback in zip(outcomes, durations, callbacks, strict=True):
        times.append(due)
        ended_ms = due + 30_000
        step = after_call(
            policy,
            outcome=outcome,
            disposition=None,
            duration_s=duration_s,
            attempt_times_ms=times,
            ended_ms=ended_ms,
            callback_ms=None if callback is None else ended_ms + callback * MINUTE,
        )
        if step.state != "retry_waiting":
            assert step.due_ms is None
            break
        assert step.due_ms is not None
        assert step.due_ms >= ended_ms + shortest_interval_ms(policy)
        due = step.due_ms
    else:
        raise AssertionError("ten attempts are the most that a policy may allow")
    assert len(times) <= policy.max_attempts
    for index, time_ms in enumerate(times):
        assert sum(time_ms <= other < time_ms + DAY for other in times[index:]) <= policy.max_attempts_per_day
