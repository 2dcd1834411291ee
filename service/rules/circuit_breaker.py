"""When the failures of a campaign's calls open its circuit breaker. Pure functions and figures."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from callwright.contract.deployments.dialling import CircuitBreaker
from callwright.service.platform.clock.clock import SECOND

FAILED = "failed"
"""The outcome of a call that the network, the carrier or the service failed."""
MOST_JUDGED = 500
"""Calls that are judged at once, the newest ones: a fast campaign has more within its window than a share needs."""


@dataclass(frozen=True)
class EndedCall:
    """When a call ended, on its campaign's clock, and whether it failed."""

    ended_ms: int
    failed: bool


def opens(breaker: CircuitBreaker, calls: Sequence[EndedCall], *, from_ms: int) -> bool:
    """Whether too many calls had failed at the end of one of them that failed, `from_ms` or later.

    Calls that end together may be judged together: the result is that of judging them one by one. `calls` are in the
    order of their ends.
    """
    window: deque[EndedCall] = deque()
    failures = 0
    for call in calls:
        window.append(call)
        failures += call.failed
        while len(window) > MOST_JUDGED or window[0].ended_ms <= call.ended_ms - breaker.window_seconds * SECOND:
            failures -= window.popleft().failed
        is_judged = call.failed and call.ended_ms >= from_ms and len(window) >= breaker.min_calls
        if is_judged and failures > breaker.failure_ratio * len(window):
            return True
    return False
