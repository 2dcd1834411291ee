"""The price of a call. Money is in millionths of a dollar (micros)."""

from dataclasses import dataclass
from math import ceil

from callwright.contract.transfers import MOST_TRANSFERS

CURRENCY = "USD"
MICROS = 1_000_000
HELD_BACK_S = 120
"""For how long a call the money is held back before it is dialled."""
EXTENDED_S = 60
"""For how much longer more is held back while somebody talks."""


@dataclass(frozen=True)
class CallPrice:
    """What calls cost. They are charged from the answer, by `increment_s` seconds; unanswered calls are free.

    `started_minute` is the most that services which hear, think and speak may cost in each minute that has begun, on
    top of `minute`; what they really cost may be less. `transfer_minute` is the most that a minute of the call to a
    person costs to whom these calls may be transferred, by up to `transfer_increment_s` seconds; 0 where nobody pays
    for such calls here.
    """

    minute: int
    increment_s: int = 1
    started_minute: int = 0
    transfer_minute: int = 0
    transfer_increment_s: int = 1

    def billed(self, seconds: int) -> int:
        """The seconds that are charged for a call of so many."""
        return -(-seconds // self.increment_s) * self.increment_s

    def call(self, seconds: int) -> int:
        """A call of so many seconds at the most, with all that it may use, rounded up to a whole micro."""
        line = ceil(self.billed(seconds) * self.minute / 60)
        return line + minutes_begun(seconds) * self.started_minute + self.transfers(seconds)

    def transfers(self, seconds: int) -> int:
        """The most that the calls to persons cost in a call of so many seconds: one person may be on the line all the
        time, and each try is rounded up to its increment."""
        if not seconds:
            return 0
        return ceil((seconds + MOST_TRANSFERS * self.transfer_increment_s) * self.transfer_minute / 60)

    @property
    def transfers_cost(self) -> bool:
        """Whether a call to a person, to whom these calls may be transferred, is charged."""
        return self.transfer_minute > 0

    @property
    def held_back(self) -> int:
        """What is held back before a call is dialled."""
        return self.call(HELD_BACK_S)

    def overrun(self, lines: int, longest_s: int) -> int:
        """What calls of up to `longest_s` seconds, one on each line, may cost beyond what is held back for them.

        More is held back while they last, and a call for which there is no more ends within a minute.
        """
        return lines * min(self.call(EXTENDED_S), max(0, self.call(longest_s) - self.held_back))


def minutes_begun(seconds: int) -> int:
    """The minutes of a call of so many seconds, the last one whole."""
    return -(-seconds // 60)
