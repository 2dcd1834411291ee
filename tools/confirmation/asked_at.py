"""When a person was asked, and whether their yes counts still: for ten minutes, by two clocks.

The clock of the machine may be wrong and be put right, and it may be set back: then a question lies in the future, or
seems to be new again later. So it is compared with time that nobody sets as well, wherever the process that asked also
takes the answer. That time alone would not do either: a computer that sleeps does not count it. Another process has the
machine's clock alone.
"""

from dataclasses import dataclass
from typing import Protocol

PATIENCE_S = 600.0
"""How long a person may take to answer; what they say after it counts for nothing."""
APART_S = 60.0
"""How far in the future a question may lie: the clocks of several processes differ by less."""
RUNNING_DIGITS, PROCESS_DIGITS = 6, 4
"""Hexadecimal digits of a running time, which begins again after 194 days, and of what stands for a process."""
_ROUND_S = 16**RUNNING_DIGITS


class _Clock(Protocol):
    def monotonic(self) -> float: ...

    def time(self) -> float: ...


@dataclass(frozen=True)
class AskedAt:
    """A moment as one process sees it."""

    shown_s: float
    """What the clock showed, in seconds since the epoch."""
    running_s: float
    """The running time of that process: seconds that only go on."""
    process: str
    """Which process it is, in `PROCESS_DIGITS` digits. Two that share them by chance refuse what they need not."""

    @property
    def in_seconds(self) -> "AskedAt":
        """The same in whole seconds, as a sentence shows it."""
        return AskedAt(self.shown_s // 1, self.running_s % _ROUND_S // 1, self.process)

    def counts_at(self, now: "AskedAt") -> bool:
        """Whether a yes counts that is given now. After a clock was set it may be refused though it is new."""
        if not -APART_S <= now.shown_s - self.shown_s < PATIENCE_S:
            return False
        return now.process != self.process or (now.running_s - self.running_s) % _ROUND_S < PATIENCE_S


def moment_of(clock: _Clock, process: str) -> AskedAt:
    """This moment, in this process."""
    return AskedAt(clock.time(), clock.monotonic(), process)
