"""What a daily budget cap means for a forecast: how many days calling takes, and the most it costs until its end."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from callwright.service.dialling.limits.daily_budget import cap_of
from callwright.service.platform.clock.clock import DAY
from callwright.service.platform.money import amount
from callwright.service.tables.audience_prices import AudiencePrices
from callwright.service.tables.campaign_settings import settings_of

_TALKS = 2
"""One person in so many talks, as a forecast assumes."""
_SAID = (
    "daily_budget_cap: within any 24 hours no call is dialled beyond {cap} USD; calling everybody once takes about "
    "{days} more, because calling waits for older costs"
)


@dataclass(frozen=True)
class DailySpending:
    """The cap in micros, and how many days calling everybody once takes longer because of it."""

    cap: int
    days: int

    @property
    def advice(self) -> str | None:
        """What a preview says of it; None if the cap is not reached."""
        days = f"{self.days} day{'s' * (self.days != 1)}"
        return _SAID.format(cap=amount(self.cap), days=days) if self.days else None


def daily_spending(row: Row[Any], prices: AudiencePrices, people: int, *, typical_s: int) -> DailySpending | None:
    """What the cap of a campaign does if so many people are called once; None without a cap."""
    cap = cap_of(row)
    if cap is None:
        return None
    likely = people // _TALKS * prices.cheapest.call(typical_s)
    return DailySpending(cap, max(0, likely - 1) // cap if cap else 0)


def most_until_end(row: Row[Any], prices: AudiencePrices, begin_ms: int, micros: int) -> int:
    """The most a campaign costs until its end, at most `micros`: the cap and a minute a line in each 24 hours."""
    cap = cap_of(row)
    if cap is None or row.end_at is None:
        return micros
    days = max(1, -(-(row.end_at - begin_ms) // DAY))
    overrun = prices.dearest.overrun(row.max_concurrency, settings_of(row).max_call_duration_seconds)
    return min(micros, days * (cap + overrun))
