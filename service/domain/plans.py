"""Plans and what they allow."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """Limits of a plan; `None` where it sets none."""

    name: str
    concurrent_deployments: int | None
    concurrent_calls: int | None


PLANS = {
    plan.name: plan
    for plan in (
        Plan("starter", 5, 10),
        Plan("pro", 25, 50),
        Plan("growth", 100, 200),
        Plan("enterprise", None, None),
    )
}
