"""How many requests a key may make: so many a second with a short burst, so many a day. Pure rules, in milliseconds.

A limit of n a second is a bucket of n that fills again evenly; each request takes one. Days are those of UTC.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal

from .clock import DAY

SECOND = 1_000


def refilled(level: float, since_ms: int, now_ms: int, per_second: float) -> float:
    """What is in a bucket now that held `level` at `since_ms`. A clock that went back adds nothing."""
    return min(capacity(per_second), level + max(0, now_ms - since_ms) * per_second / SECOND)


def capacity(per_second: float) -> float:
    """What a full bucket holds: the requests of one second, one at least."""
    return max(1.0, per_second)


def day_of(now_ms: int) -> int:
    """The day since the epoch."""
    return now_ms // DAY


@dataclass(frozen=True)
class Standing:
    """Where a key stands after a request with the limit that is nearest. `refused` says which one was passed.

    `reset_s` is a Unix time in seconds: when the limit is whole again.
    """

    limit: int
    remaining: int
    reset_s: int
    window_s: int
    refused: Literal["second", "day"] | None = None

    def headers(self) -> Mapping[str, str]:
        """What every answer says of it."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset_s),
        }

    def draft_fields(self, now_ms: int) -> Mapping[str, str]:
        """The same in the fields of the IETF draft, whose times are seconds from now."""
        return {
            "RateLimit-Policy": f'"default";q={self.limit};w={self.window_s}',
            "RateLimit": f'"default";r={self.remaining};t={self.wait_s(now_ms)}',
        }

    def wait_s(self, now_ms: int) -> int:
        """Whole seconds until the reset, one at least."""
        return max(1, self.reset_s - now_ms // SECOND)


def of_second(level: float | None, per_second: float, now_ms: int) -> Standing:
    """The standing with a bucket that holds `level` after the request, or None where it was too empty for it."""
    most, left = capacity(per_second), level or 0.0
    full_ms = now_ms + (most - left) / per_second * SECOND
    refused = "second" if level is None else None
    return Standing(max(1, round(per_second)), floor(left), ceil(full_ms / SECOND), 1, refused)


def of_day(made: int | None, per_day: int, now_ms: int) -> Standing:
    """The standing with the day's quota after the request, which was the `made`th, or None where it was too many."""
    midnight_s = (day_of(now_ms) + 1) * DAY // SECOND
    if made is None:
        return Standing(per_day, 0, midnight_s, DAY // SECOND, "day")
    return Standing(per_day, max(0, per_day - made), midnight_s, DAY // SECOND)


def nearest(second: Standing | None, day: Standing | None) -> Standing | None:
    """The one that was passed, else the one with fewer requests left."""
    if second is None or day is None:
        return second or day
    if (second.refused is None) != (day.refused is None):
        return day if second.refused is None else second
    return day if day.remaining < second.remaining else second
