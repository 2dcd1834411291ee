"""The most that a campaign can cost: what may be said with the words "at most".

Any call may be answered, by a person or by a mailbox, and last as long as the deployment lets it; whoever was called
may be called again until their attempts are used up, because a short call, a mailbox or a wish to be called back leads
to another attempt and is charged all the same.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from callwright.service.domain.money import PRICES


@dataclass(frozen=True)
class DearestCase:
    """Micros that a start or resume may cost from now on, at most."""

    calls: int
    """What all calls cost if each is as dear as it can be."""
    cap: int | None
    """What is left of the budget cap; no call is made beyond it. None without a cap."""
    overrun: int = 0
    """What calls that are under way when the cap is reached may cost beyond it."""

    @property
    def micros(self) -> int:
        """The most there is to pay."""
        return self.calls if self.cap is None else min(self.calls, self.cap + self.overrun)


def overrun(lines: int, longest_s: int) -> int:
    """Micros that calls of up to `longest_s` seconds, one on each line, may cost beyond what is held back for them."""
    return lines * max(0, PRICES.call(longest_s) - PRICES.reservation())


def dearest_case(row: Row[Any], people: int, max_attempts: int) -> DearestCase:
    """The dearest case of a deployment for so many people who would be called.

    Before a call is dialled the cap has to leave room for what is held back for it, two minutes; on each line one call
    may be under way that becomes longer than that.
    """
    call = PRICES.call(row.max_call_duration_seconds)
    started = row.started_at is not None
    under_way: int = row.in_flight if started else 0
    calls = (people + under_way) * max_attempts * call
    if row.budget_cap_micros is None:
        return DearestCase(calls, None)
    cap = max(0, row.budget_cap_micros - (row.spend_micros if started else 0))
    lines = max(under_way, min(row.max_concurrency, people + under_way, cap // PRICES.reservation()))
    beyond = overrun(lines, row.max_call_duration_seconds)
    return DearestCase(calls, cap, max(0, min(beyond, calls - cap)))
