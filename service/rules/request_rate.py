"""How many requests a key may make per second, with a short burst, and per day. Pure functions, in milliseconds.

A limit of n per second is a token bucket of n that refills evenly; each request takes one token. Days are in UTC.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal

from callwright.service.platform.clock.clock import DAY

SECOND = 1_000
AHEAD_MS = 30_000
"""How far in the future the last use of a bucket may be, because the clocks of processes differ."""


def refilled(level: float, since_ms: int, now_ms: int, per_second: float) -> float:
    """The level now of a bucket that held `level` at `since_ms`.

    A clock that went back a little adds nothing. If `since_ms` is too far ahead, it is ignored and the bucket is full.
    """
    if since_ms - now_ms > AHEAD_MS:
        return capacity(per_second)
    return min(capacity(per_second), level + max(0, now_ms - since_ms) * per_second / SECOND)


def capacity(per_second: float) -> float:
    """The tokens in a full bucket: the requests of one second, at least one."""
    return max(1.0, per_second)


def day_of(now_ms: int) -> int:
    """The day since the epoch."""
    return now_ms // DAY


@dataclass(frozen=True)
class RateLimitState:
    """The state of the limit that a key is closest to, after a request. `refused` names the limit that was exceeded.

    `reset_ms` is when the whole limit is available again, `free_ms` when the next request is allowed.
    """

    limit: int
    remaining: int
    reset_ms: int
    free_ms: int
    window_s: int
    refused: Literal["second", "day"] | None = None

    def headers(self) -> Mapping[str, str]:
        """The headers of every answer. The reset is a Unix time in seconds."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(ceil(self.reset_ms / SECOND)),
        }

    def draft_fields(self, now_ms: int) -> Mapping[str, str]:
        """The same as header fields of the IETF draft, with times in seconds from now."""
        return {
            "RateLimit-Policy": f'"default";q={self.limit};w={self.window_s}',
            "RateLimit": f'"default";r={self.remaining};t={_seconds(self.reset_ms - now_ms)}',
        }

    def retry_after_s(self, now_ms: int) -> int:
        """Whole seconds until a request is allowed again, at least one."""
        return _seconds(self.free_ms - now_ms)

    def refusal_headers(self, now_ms: int) -> Mapping[str, str]:
        """The headers of every 429: the same, and how long to wait."""
        return {"Retry-After": str(self.retry_after_s(now_ms)), **self.headers()}


def _seconds(wait_ms: int) -> int:
    """A wait in whole seconds, rounded up, and at least one."""
    return max(1, ceil(wait_ms / SECOND))


def of_second(level: float, per_second: float, now_ms: int, *, refused: bool = False) -> RateLimitState:
    """The state of a bucket with `level` tokens, after a request was allowed or `refused`."""
    most = capacity(per_second)
    full_ms = now_ms + ceil((most - level) / per_second * SECOND)
    free_ms = now_ms + ceil(max(0.0, 1.0 - level) / per_second * SECOND)
    limit = max(1, round(per_second))
    return RateLimitState(limit, 0 if refused else floor(level), full_ms, free_ms, 1, "second" if refused else None)


def of_day(made: int | None, per_day: int, now_ms: int) -> RateLimitState:
    """The state of the day's quota after the request with the number `made`; None if the request was refused."""
    midnight_ms = (day_of(now_ms) + 1) * DAY
    if made is None:
        return RateLimitState(per_day, 0, midnight_ms, midnight_ms, DAY // SECOND, "day")
    left = max(0, per_day - made)
    return RateLimitState(per_day, left, midnight_ms, now_ms if left else midnight_ms, DAY // SECOND)


def all_slots_used(most: int, now_ms: int, wait_ms: int) -> RateLimitState:
    """The state of a client that uses all of `most` slots, of which one becomes free in `wait_ms`."""
    soon_ms = now_ms + wait_ms
    return RateLimitState(most, 0, soon_ms, soon_ms, 1, "second")


def nearest(second: RateLimitState | None, day: RateLimitState | None) -> RateLimitState | None:
    """The limit that was exceeded, else the one with fewer requests left."""
    if second is None or day is None:
        return second or day
    if (second.refused is None) != (day.refused is None):
        return day if second.refused is None else second
    return day if day.remaining < second.remaining else second
