"""Price plans and their limits, and the limits that an organization negotiated."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any


@dataclass(frozen=True)
class PricePlan:
    """The limits of a plan; `None` for no limit.

    `requests_per_second` and `requests_per_day` (in UTC) apply to each key separately. Recordings are deleted
    `recording_retention_days` after their call. Campaigns leave `reserved_inbound_concurrency` of the concurrent calls
    free for callers.
    """

    name: str
    concurrent_deployments: int | None
    concurrent_calls: int | None
    requests_per_second: int | None
    requests_per_day: int | None
    recording_retention_days: int = 90
    reserved_inbound_concurrency: int = 0

    @property
    def lines_for_campaigns(self) -> int | None:
        """How many calls the campaigns may make at once, at least one; None for no limit."""
        limit = self.concurrent_calls
        return None if limit is None else max(1, limit - self.reserved_inbound_concurrency)


PRICE_PLANS = {
    plan.name: plan
    for plan in (
        PricePlan("starter", 5, 10, 5, 5_000),
        PricePlan("pro", 25, 50, 25, 50_000),
        PricePlan("growth", 100, 200, 100, 250_000),
        PricePlan("enterprise", None, None, None, None),
    )
}


NEGOTIABLE = ("requests_per_second", "requests_per_day", "recording_retention_days", "reserved_inbound_concurrency")
"""The limits that an organization may negotiate."""


@lru_cache(maxsize=1_000)
def negotiated(
    plan: PricePlan,
    *,
    requests_per_second: int | None = None,
    requests_per_day: int | None = None,
    recording_retention_days: int | None = None,
    reserved_inbound_concurrency: int | None = None,
) -> PricePlan:
    """The plan with negotiated limits; `None` keeps the plan's. Returns `plan` itself without any."""
    own = (requests_per_second, requests_per_day, recording_retention_days, reserved_inbound_concurrency)
    given = {name: value for name, value in zip(NEGOTIABLE, own, strict=True) if value is not None}
    return replace(plan, **given) if given else plan


def plan_of(row: Any) -> PricePlan:
    """The plan of an organization with its negotiated limits. `row` has the column `plan` and those limits."""
    return negotiated(PRICE_PLANS[row.plan], **{name: getattr(row, name) for name in NEGOTIABLE})
