"""Plans and what they allow, and what an organization negotiated in their place."""

from dataclasses import dataclass, replace
from functools import lru_cache


@dataclass(frozen=True)
class PricePlan:
    """Limits of a plan; `None` where it sets none.

    `requests_per_second` and `requests_per_day` count each key by itself, a day being one of UTC. Recordings are
    deleted `recording_retention_days` after their call.
    """

    name: str
    concurrent_deployments: int | None
    concurrent_calls: int | None
    requests_per_second: int | None
    requests_per_day: int | None
    recording_retention_days: int = 90


PRICE_PLANS = {
    plan.name: plan
    for plan in (
        PricePlan("starter", 5, 10, 5, 5_000),
        PricePlan("pro", 25, 50, 25, 50_000),
        PricePlan("growth", 100, 200, 100, 250_000),
        PricePlan("enterprise", None, None, None, None),
    )
}


@lru_cache(maxsize=1_000)
def negotiated(
    plan: PricePlan,
    *,
    requests_per_second: int | None = None,
    requests_per_day: int | None = None,
    recording_retention_days: int | None = None,
) -> PricePlan:
    """The plan with an organization's own values, each at least 1; `None` leaves what the plan says.

    Returns `plan` itself where nothing was negotiated.
    """
    own = {
        "requests_per_second": requests_per_second,
        "requests_per_day": requests_per_day,
        "recording_retention_days": recording_retention_days,
    }
    given = {name: value for name, value in own.items() if value is not None}
    return replace(plan, **given) if given else plan
