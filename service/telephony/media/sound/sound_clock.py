"""The clock of a call's sound: both sides are placed on it, so transcript and recording have the same times."""

import time
from collections.abc import Callable
from typing import Protocol

RATE = 16_000
"""Samples per second of all sound in a media process: signed 16-bit, little-endian, mono."""
FRAME_BYTES = RATE // 50 * 2
"""20 ms."""
_GAP = RATE // 4
"""Sound that comes later than this is placed where it comes, and what lacks before it is silence. Less is jitter."""


def seconds_of(pcm: bytes) -> float:
    """How long sound takes."""
    return len(pcm) / 2 / RATE


class Sink(Protocol):
    """Takes the placed sound of a track."""

    def __call__(self, start: int, pcm: bytes) -> None:
        """`start` is a number of samples after the answer."""
        ...


class SoundClock:
    """Seconds since the answer. Before `start` it stands at 0, and after `stop` it stands still."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._answered: float | None = None
        self._stopped_s: float | None = None

    def start(self) -> None:
        """The call is answered now. A second start changes nothing."""
        if self._answered is None:
            self._answered = self._now()

    def stop(self) -> None:
        """The call is over now."""
        if self._stopped_s is None:
            self._stopped_s = self.now_s()

    def now_s(self) -> float:
        """Seconds since the answer."""
        if self._stopped_s is not None:
            return self._stopped_s
        return 0.0 if self._answered is None else self._now() - self._answered


class Track:
    """One side's sound on the clock, without overlaps. Sound follows what came before unless it comes late."""

    def __init__(self, clock: SoundClock, sink: Sink | None = None) -> None:
        self._clock = clock
        self._sink = sink
        self._end = 0

    @property
    def end_s(self) -> float:
        """When the last sound ends, in seconds after the answer."""
        return self._end / RATE

    def place(self, pcm: bytes, *, heard: bool) -> tuple[float, float]:
        """Places sound, and returns when it starts and ends. `heard` sound ends now; other sound starts now."""
        samples = len(pcm) // 2
        due = round(self._clock.now_s() * RATE) - (samples if heard else 0)
        start = due if due - self._end > (_GAP if heard else 0) else self._end
        self._end = start + samples
        if self._sink is not None:
            self._sink(start, pcm)
        return start / RATE, self._end / RATE
