"""The price of a call. Money is in millionths of a dollar (micros)."""

from dataclasses import dataclass
from math import ceil

CURRENCY = "USD"
MICROS = 1_000_000
HELD_BACK_S = 120
"""For how long a call the money is held back before it is dialled."""


@dataclass(frozen=True)
class CallPrice:
    """What calls cost. They are charged by the second from the answer; unanswered calls are free."""

    minute: int

    def call(self, seconds: int) -> int:
        """A call of so many seconds, rounded up to a whole micro."""
        return ceil(seconds * self.minute / 60)

    @property
    def held_back(self) -> int:
        """What is held back before a call is dialled."""
        return self.call(HELD_BACK_S)

    def overrun(self, lines: int, longest_s: int) -> int:
        """What calls of up to `longest_s` seconds, one on each line, may cost beyond what is held back for them."""
        return lines * max(0, self.call(longest_s) - self.held_back)
