"""Whether a failed request is sent again, and how long to wait before. Pure rules; `transport.py` does the waiting.

| what happened                                   | GET, POST with an Idempotency-Key | PATCH, DELETE |
|-------------------------------------------------|-----------------------------------|---------------|
| the request never left (no connection was made) | again                             | again         |
| the connection broke, or no answer in time      | again                             | no            |
| 429, 500, 502, 503, 504                         | again                             | no            |
| 409 `idempotency_in_progress`                   | again                             | no            |
| any other answer                                | no                                | no            |

Media that answer 503 `service_unavailable` without `Retry-After` are asked for once more only: what renders them is
missing, and does not come back within seconds.
"""

from collections.abc import Callable
from dataclasses import dataclass

from .errors import CallwrightError, ServiceProblem

UNAVAILABLE = "service_unavailable"


@dataclass(frozen=True, kw_only=True)
class Retries:
    """How often and how patiently a request is sent again.

    `attempts` counts the first one too. Without `Retry-After` the waits are `first_wait_s`, twice that, four times
    that, up to `longest_backoff_s`, each shortened at random by up to a half. With it the wait is exactly what the
    service asks for; when that is more than `longest_wait_s`, the problem is raised at once.
    """

    attempts: int = 4
    first_wait_s: float = 0.25
    longest_backoff_s: float = 8.0
    longest_wait_s: float = 30.0

    def wait_s(
        self, error: CallwrightError, *, attempt: int, repeatable: bool, media: bool, draw: Callable[[], float]
    ) -> float | None:
        """Seconds to wait after the failed attempt number `attempt` (from 1); None to give up.

        `repeatable` says that serving the request twice has the effect of serving it once. `draw` gives a random
        number from 0 up to but not including 1.
        """
        if attempt >= self.attempts or not error.retryable:
            return None
        asked_s: float | None = None
        if isinstance(error, ServiceProblem):
            asked_s = error.retry_after_s
            rendering_missing = media and error.code == UNAVAILABLE and asked_s is None
            if not repeatable or (rendering_missing and attempt > 1):
                return None
        if asked_s is not None:
            return asked_s if asked_s <= self.longest_wait_s else None
        backoff_s = min(self.longest_backoff_s, self.first_wait_s * 2.0 ** min(attempt - 1, 60))
        return backoff_s * (1.0 - draw() / 2.0)
