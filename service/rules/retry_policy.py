"""What happens to a contact after a call: it is finished, or called again at a certain time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from callwright.contract.deployments.dialling import RetryPolicy, RetryReason
from callwright.service.platform.clock.clock import DAY, HOUR, MINUTE
from callwright.service.rules.parts_of_day import next_untried_ms

ContactState = Literal["completed", "exhausted", "retry_waiting", "suppressed", "held"]

_REASONS: dict[str, RetryReason] = {
    "no_answer": "no_answer",
    "busy": "busy",
    "rejected": "rejected",
    "voicemail": "voicemail",
    "failed": "failed",
    "unreachable": "failed",
    "abandoned": "failed",
}
CALLBACK_NOT_POSSIBLE = "callback_not_possible"
"""The contact asked to be called again, and no attempt is left."""
_REACHED = ("answered", "transferred", "voicemail_left")
_SAME_TIME_OF_DAY = 2 * HOUR
_OTHER_TIME_OF_DAY = 4 * HOUR


@dataclass(frozen=True)
class Step:
    """The contact's next state; `due_ms` is set when they are to be called again."""

    state: ContactState
    due_ms: int | None = None
    reason: str | None = None
    """Why it is not called again, where it asked for that."""


def reason_of(outcome: str, duration_s: float, policy: RetryPolicy) -> RetryReason | None:
    """Which retry reason a call falls under, if any. An invalid number never does."""
    if outcome == "answered" and duration_s < policy.short_call_seconds:
        return "short_call"
    return _REASONS.get(outcome)


def after_call(
    policy: RetryPolicy,
    *,
    outcome: str,
    disposition: str | None,
    duration_s: float,
    attempt_times_ms: Sequence[int],
    ended_ms: int,
    callback_ms: int | None,
    zone: str = "UTC",
) -> Step:
    """The step after a call. `attempt_times_ms` are the moments of all calls to the contact, this one last. `zone` is
    the time zone of the person.

    A contact that asks not to be called is never called again. A callback that a contact asks for is made if an attempt
    is left: no more calls are made than the plan of the campaign names. Else the step says that it is not possible, so
    that a person calls.
    """
    if disposition == "do_not_call":
        return Step("suppressed")
    attempts = len(attempt_times_ms)
    if callback_ms is not None:
        if attempts < policy.max_attempts:
            return Step("retry_waiting", within_daily_limit(policy, attempt_times_ms, callback_ms))
        return Step("completed" if outcome in _REACHED else "exhausted", reason=CALLBACK_NOT_POSSIBLE)
    reason = reason_of(outcome, duration_s, policy)
    settled = outcome in _REACHED and not (reason == "short_call" and disposition in (None, "incomplete"))
    if settled:
        return Step("completed")
    if reason is None or reason not in policy.retry_on or attempts >= policy.max_attempts:
        return Step("completed" if outcome in _REACHED else "exhausted")
    return Step("retry_waiting", due_after(policy, reason, attempt_times_ms, ended_ms, zone))


def due_after(
    policy: RetryPolicy, reason: RetryReason, attempt_times_ms: Sequence[int], ended_ms: int, zone: str = "UTC"
) -> int:
    """When the next attempt is due."""
    if reason == "busy":
        return within_daily_limit(policy, attempt_times_ms, ended_ms + policy.busy_interval_minutes * MINUTE)
    intervals = intervals_after(policy, reason)
    due = ended_ms + intervals[min(len(attempt_times_ms), len(intervals)) - 1] * MINUTE
    if reason == "no_answer" and policy.parts_of_day:
        earliest = within_daily_limit(policy, attempt_times_ms, due)
        in_part = next_untried_ms(policy.parts_of_day, attempt_times_ms, earliest, zone)
        if in_part is not None:
            return in_part
    if policy.different_time_of_day:
        apart = (due - attempt_times_ms[-1]) % DAY
        if due - attempt_times_ms[-1] > DAY // 2 and min(apart, DAY - apart) < _SAME_TIME_OF_DAY:
            due += _OTHER_TIME_OF_DAY
    return within_daily_limit(policy, attempt_times_ms, due)


def intervals_after(policy: RetryPolicy, reason: RetryReason) -> Sequence[int]:
    """Minutes before each retry after a call of this kind, but for busy."""
    own: Sequence[int] | None = getattr(policy.intervals_by_reason, reason, None)
    return own or policy.interval_minutes


def within_daily_limit(policy: RetryPolicy, attempt_times_ms: Sequence[int], due_ms: int) -> int:
    """The due time, moved so that there are never more attempts within 24 hours than the policy allows."""
    if len(attempt_times_ms) < policy.max_attempts_per_day:
        return due_ms
    return max(due_ms, sorted(attempt_times_ms)[-policy.max_attempts_per_day] + DAY)


def shortest_interval_ms(policy: RetryPolicy) -> int:
    """The least time between the end of a call and a retry of it."""
    named = () if policy.intervals_by_reason is None else policy.intervals_by_reason.model_dump().values()
    least = (min(intervals) for intervals in named if intervals)
    return min(*policy.interval_minutes, policy.busy_interval_minutes, CALLBACK_MINUTES, *least) * MINUTE


CALLBACK_MINUTES = 10
"""The least time, in minutes, after which a contact that asks for it is called back."""
