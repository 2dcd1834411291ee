"""The moment that has certainly come: what is deleted or charged for good goes by no single reading of the clock.

A clock may be weeks ahead and be put right later. So what cannot be undone goes by a moment of which there are two
witnesses. While a process runs, the second one is its own running time, which nobody sets. Between two starts there is
none: a clock that then shows much more than was last seen is believed once it has run on for a day, or once it was read
again a day further on; the moment of the first reading, less a day, is certain then. What is certain is never later
than what the clock shows.
"""

from dataclasses import dataclass

from callwright.service.platform.clock.durations import DAY, MINUTE

EVEN_MS = 5 * MINUTE
"""How far a clock may be from where it should be and is still believed at once."""
HELD_MS = DAY
"""How long a clock has to go on as it does before it is believed."""


@dataclass(frozen=True)
class Seen:
    """What is kept between two starts, in milliseconds since the epoch."""

    sure_ms: int
    """The moment that was certain."""
    shown_ms: int
    """What the clock showed then."""
    since_ms: int
    """What it showed when it was first ahead of what is certain."""


class Certainty:
    """What is certain in one process, from one look at the clock to the next."""

    def __init__(self) -> None:
        self._seen: Seen | None = None
        self._running_ms = 0
        self._even_since_ms = 0

    def sure_ms(self, now_ms: int, running_ms: int) -> int:
        """The moment that has certainly come; 0 before the first look."""
        if self._seen is None:
            return 0
        return min(now_ms, self._seen.sure_ms + running_ms - self._running_ms)

    def look(self, kept: Seen | None, now_ms: int, running_ms: int) -> Seen:
        """One look at the clock. `kept` is what any process kept last; what this gives is to be kept.

        Of a database that nobody has looked at the clock for nothing is certain.
        """
        kept = kept or Seen(0, now_ms, now_ms)
        before = self._seen
        if before is None:
            gap_ms = now_ms - kept.shown_ms
            sure_ms = kept.sure_ms + (gap_ms if 0 <= gap_ms <= EVEN_MS else 0)
            self._even_since_ms = running_ms
        else:
            went_ms = running_ms - self._running_ms
            sure_ms = max(before.sure_ms + went_ms, kept.sure_ms)
            stepped = abs(now_ms - before.shown_ms - went_ms) > EVEN_MS
            # Whoever kept something since then, another process, may see another time.
            differs = kept != before and abs(now_ms - kept.shown_ms) > EVEN_MS
            if stepped or differs:
                self._even_since_ms = running_ms
        since_ms = min(kept.since_ms, now_ms)
        if running_ms - self._even_since_ms >= HELD_MS:
            sure_ms = now_ms
        elif now_ms - since_ms >= HELD_MS and now_ms - sure_ms > EVEN_MS:
            sure_ms, since_ms = max(sure_ms, since_ms - HELD_MS), now_ms
        sure_ms = min(sure_ms, now_ms)
        if now_ms - sure_ms <= EVEN_MS:
            sure_ms = since_ms = now_ms
        self._seen, self._running_ms = Seen(sure_ms, now_ms, since_ms), running_ms
        return self._seen
