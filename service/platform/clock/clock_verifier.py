"""The confirmed time: what is deleted or charged for good does not rely on a single reading of the clock.

A clock may be weeks ahead and be corrected later. So what cannot be undone uses a time that two sources confirm. While
a process runs, the second source is its monotonic clock, which nobody can set. Between two starts there is no second
source: a clock that has moved far ahead meanwhile is believed after it has run evenly for a day, or when a later
reading shows a day more; in that case the time of the first reading, less a day, is confirmed. The confirmed time is
never later than what the clock shows.
"""

from dataclasses import dataclass

from callwright.service.platform.clock.durations import DAY, MINUTE

EVEN_MS = 5 * MINUTE
"""How far a clock may be off and still be believed at once."""
HELD_MS = DAY
"""How long a clock that is off has to run evenly before it is believed."""


@dataclass(frozen=True)
class ClockReading:
    """What is stored between two starts, in milliseconds since the epoch."""

    confirmed_ms: int
    """The time that was confirmed."""
    shown_ms: int
    """What the clock showed then."""
    since_ms: int
    """What the clock showed when it was first ahead of the confirmed time."""


class ClockVerifier:
    """The confirmed time in one process, updated at each look at the clock."""

    def __init__(self) -> None:
        self._reading: ClockReading | None = None
        self._running_ms = 0
        self._even_since_ms = 0

    def confirmed_now_ms(self, now_ms: int, running_ms: int) -> int:
        """The confirmed time; 0 before the first look."""
        if self._reading is None:
            return 0
        return min(now_ms, self._reading.confirmed_ms + running_ms - self._running_ms)

    def look(self, kept: ClockReading | None, now_ms: int, running_ms: int) -> ClockReading:
        """Looks at the clock. `kept` is what a process stored last; store what this returns.

        `kept` is None if nothing was stored yet; then no time is confirmed.
        """
        kept = kept or ClockReading(0, now_ms, now_ms)
        before = self._reading
        if before is None:
            gap_ms = now_ms - kept.shown_ms
            confirmed_ms = kept.confirmed_ms + (gap_ms if 0 <= gap_ms <= EVEN_MS else 0)
            self._even_since_ms = running_ms
        else:
            went_ms = running_ms - self._running_ms
            confirmed_ms = max(before.confirmed_ms + went_ms, kept.confirmed_ms)
            stepped = abs(now_ms - before.shown_ms - went_ms) > EVEN_MS
            # Another process has stored something since, and its clock may show another time.
            differs = kept != before and abs(now_ms - kept.shown_ms) > EVEN_MS
            if stepped or differs:
                self._even_since_ms = running_ms
        since_ms = min(kept.since_ms, now_ms)
        if running_ms - self._even_since_ms >= HELD_MS:
            confirmed_ms = now_ms
        elif now_ms - since_ms >= HELD_MS and now_ms - confirmed_ms > EVEN_MS:
            confirmed_ms, since_ms = max(confirmed_ms, since_ms - HELD_MS), now_ms
        confirmed_ms = min(confirmed_ms, now_ms)
        if now_ms - confirmed_ms <= EVEN_MS:
            confirmed_ms = since_ms = now_ms
        self._reading, self._running_ms = ClockReading(confirmed_ms, now_ms, since_ms), running_ms
        return self._reading
