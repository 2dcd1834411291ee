"""Whether a failed request is sent again, and how long to wait before. Pure rules; `transport.py` does the waiting.

| what happened                                   | GET, PUT, POST with an Idempotency-Key | PATCH, DELETE |
|-------------------------------------------------|----------------------------------------|---------------|
| the request never left (no connection was made) | again                                  | again         |
| 429 `rate_limited`, 408: turned away unserved   | again                                  | again         |
| the connection broke, or no answer in time      | again                                  | no            |
| 500, 502, 503, 504                              | again                                  | no            |
| 409 `idempotency_in_progress`                   | again                                  | no            |
| 429 `daily_quota_exceeded`, any other answer    | no                                     | no            |

A 429 with `Retry-After` is no failed attempt: such waits are limited by their sum, all else by the number of attempts.
Media that answer 503 `service_unavailable` without `Retry-After` are requested only once more: the renderer is missing,
and does not come back within seconds.
"""

from collections.abc import Callable
from dataclasses import dataclass

from callwright.client.errors import UNSERVED_STATUSES, CallwrightError, RateLimited, ServiceProblem

UNAVAILABLE = "service_unavailable"
_SHORTEST_TURN_S = 0.1


@dataclass(frozen=True, kw_only=True)
class Retries:
    """How often a request is sent again, and how long the waits are.

    `attempts` counts the first one too. Without `Retry-After` the waits are `first_wait_s`, twice that, four times
    that, up to `longest_backoff_s`, each shortened at random by up to a half. With it the wait is what the service asks
    for, lengthened at random by up to a quarter, so that requests which were refused together do not return together.
    When the service asks for more than `longest_wait_s`, the problem is raised at once. For rate limits
    the service may ask one request for no more than that in all.
    """

    attempts: int = 4
    first_wait_s: float = 0.25
    longest_backoff_s: float = 8.0
    longest_wait_s: float = 30.0


class RetryState:
    """The attempts of one request.

    `repeatable` says that serving the request twice has the effect of serving it once. `draw` gives a random number
    from 0 up to but not including 1.
    """

    def __init__(self, rules: Retries, *, repeatable: bool, media: bool, draw: Callable[[], float]) -> None:
        self._rules, self._repeatable, self._media, self._draw = rules, repeatable, media, draw
        self._failed = 0
        self._waited_s = 0.0

    def wait_s(self, error: CallwrightError) -> float | None:
        """Seconds to wait after an attempt that ended in this error; None to give up."""
        if not error.retryable:
            return None
        asked_s = error.retry_after_s if isinstance(error, ServiceProblem) else None
        if isinstance(error, RateLimited) and asked_s is not None:
            return self._turn_s(asked_s)
        self._failed += 1
        if self._failed >= self._rules.attempts or not self._may_repeat(error):
            return None
        if asked_s is not None:
            return None if asked_s > self._rules.longest_wait_s else self._lengthened(asked_s)
        backoff_s = min(self._rules.longest_backoff_s, self._rules.first_wait_s * 2.0 ** min(self._failed - 1, 60))
        return backoff_s * (1.0 - self._draw() / 2.0)

    def _turn_s(self, asked_s: float) -> float | None:
        """The wait for a rate limit. It is never 0, so that the limit on the sum also limits the number of waits."""
        asked_s = max(asked_s, self._rules.first_wait_s, _SHORTEST_TURN_S)
        self._waited_s += asked_s
        if self._waited_s > self._rules.longest_wait_s or self._rules.attempts == 1:
            return None
        return self._lengthened(asked_s)

    def _may_repeat(self, error: CallwrightError) -> bool:
        if not isinstance(error, ServiceProblem):
            return True  # `retryable` is true, so it may be sent again
        if error.status in UNSERVED_STATUSES:
            return True
        rendering_missing = self._media and error.code == UNAVAILABLE and error.retry_after_s is None
        return self._repeatable and not (rendering_missing and self._failed > 1)

    def _lengthened(self, asked_s: float) -> float:
        return asked_s * (1.0 + self._draw() / 4.0)
