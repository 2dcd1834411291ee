"""When a person was asked, and whether their answer still counts: for ten minutes, by two clocks.

The wall clock may be wrong, or be set meanwhile: then a question lies in the future, or seems new again later. So the
monotonic clock is compared as well, if the same process asks and takes the answer. That clock alone is not enough: it
stops while a computer sleeps. Another process has only the wall clock.
"""

from dataclasses import dataclass
from typing import Protocol

ANSWER_TIMEOUT_S = 600.0
"""How long a person may take to answer. Later answers do not count."""
CLOCK_SKEW_S = 60.0
"""How far in the future a question may lie: the clocks of several processes differ by less."""
MONOTONIC_DIGITS, PROCESS_DIGITS = 6, 4
"""Hexadecimal digits of a monotonic time, which starts again after 194 days, and of the id of a process."""
_ROUND_S = 16**MONOTONIC_DIGITS


class _Clock(Protocol):
    def monotonic(self) -> float: ...

    def time(self) -> float: ...


@dataclass(frozen=True)
class AskedAt:
    """A time as one process sees it."""

    wall_s: float
    """The wall clock, in seconds since the epoch."""
    monotonic_s: float
    """The monotonic clock of that process, in seconds."""
    process: str
    """The id of the process, in `PROCESS_DIGITS` digits. If two share one by chance, they may refuse a valid answer."""

    @property
    def in_seconds(self) -> "AskedAt":
        """The same in whole seconds, as a sentence shows it."""
        return AskedAt(self.wall_s // 1, self.monotonic_s % _ROUND_S // 1, self.process)

    def is_valid_at(self, now: "AskedAt") -> bool:
        """Whether an answer given now counts. After a clock was set, a new one may be refused."""
        if not -CLOCK_SKEW_S <= now.wall_s - self.wall_s < ANSWER_TIMEOUT_S:
            return False
        return now.process != self.process or (now.monotonic_s - self.monotonic_s) % _ROUND_S < ANSWER_TIMEOUT_S


def moment_of(clock: _Clock, process: str) -> AskedAt:
    """The present time in this process."""
    return AskedAt(clock.time(), clock.monotonic(), process)
