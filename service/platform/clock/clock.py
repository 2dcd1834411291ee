"""Time as an argument: code that needs the time is given a clock."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol

from callwright.service.platform.clock.clock_verifier import ClockReading, ClockVerifier
from callwright.service.platform.clock.durations import DAY as DAY
from callwright.service.platform.clock.durations import HOUR as HOUR
from callwright.service.platform.clock.durations import MINUTE as MINUTE
from callwright.service.platform.clock.durations import SECOND as SECOND


class Clock(Protocol):
    """Tells the time, in milliseconds. `now_ms` and `confirmed_now_ms` count from the epoch."""

    def now_ms(self) -> int:
        """What the clock shows. Somebody may set it, and it may be wrong."""
        ...

    def running_ms(self) -> int:
        """Monotonic time with an arbitrary zero, for durations and waits."""
        ...

    def confirmed_now_ms(self) -> int:
        """The time that has certainly come, at most `now_ms`. Use it for what is deleted or charged for good."""
        ...


class SystemClock:
    """The machine's clock. With `begins_at_ms` it shows that moment when it is made, and runs on from there."""

    def __init__(
        self,
        begins_at_ms: int | None = None,
        *,
        wall: Callable[[], float] = time.time,
        running: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wall, self._running = wall, running
        self._ahead_ms = 0 if begins_at_ms is None else begins_at_ms - round(wall() * 1_000)
        self._verifier = ClockVerifier()

    def now_ms(self) -> int:
        return round(self._wall() * 1_000) + self._ahead_ms

    def running_ms(self) -> int:
        return round(self._running() * 1_000)

    def confirmed_now_ms(self) -> int:
        """The time that has certainly come; 0 before the first `look`."""
        return self._verifier.confirmed_now_ms(self.now_ms(), self.running_ms())

    def look(self, kept: ClockReading | None) -> ClockReading:
        """Compares the clock with what was stored before; store what this returns (`clock_verifier.py`)."""
        return self._verifier.look(kept, self.now_ms(), self.running_ms())


def moment(ms: int) -> datetime:
    """The moment as an aware datetime in UTC."""
    return datetime.fromtimestamp(ms / 1_000, UTC)


def moment_or_none(ms: int | None) -> datetime | None:
    """The moment as an aware datetime in UTC; None for None."""
    return None if ms is None else moment(ms)


@lru_cache(maxsize=8_192)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19] + "Z"


def instant_or_none(ms: int | None) -> str | None:
    """The moment in JSON, to the second: `YYYY-MM-DDThh:mm:ssZ`; None for None. The text of a second is cached."""
    return None if ms is None else _second(ms // 1_000)


def milliseconds(value: datetime) -> int:
    """Milliseconds since the epoch of an aware datetime."""
    return round(value.timestamp() * 1_000)


def second_began(value: datetime) -> int:
    """Milliseconds since the epoch of an aware datetime, rounded down to the second."""
    return milliseconds(value.replace(microsecond=0))


def whole_seconds(duration_ms: int) -> int:
    """A duration as it is shown: to the nearest second; half a second is rounded up."""
    return (duration_ms + SECOND // 2) // SECOND


def iso_milliseconds(ms: int) -> str:
    """`YYYY-MM-DDThh:mm:ss.mmmZ`, the form of an event's `created_at`."""
    return f"{_second(ms // 1_000)[:-1]}.{ms % 1_000:03d}Z"
