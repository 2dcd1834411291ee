"""The most that a deployment can cost from now on; see `contract.deployments.maximum_cost`."""

from typing import Any

from sqlalchemy import Row

from callwright.contract.deployments.maximum_cost import MaximumCost
from callwright.contract.deployments.maximum_cost import maximum_cost as most_of
from callwright.service.tables.audience_prices import AudiencePrices
from callwright.service.tables.campaign_settings import settings_of


def maximum_cost(row: Row[Any], prices: AudiencePrices, people: int, max_attempts: int) -> MaximumCost:
    """The most that a deployment can cost if `people` are called up to `max_attempts` times each."""
    started = row.started_at is not None
    cap: int | None = row.budget_cap_micros
    return most_of(
        prices.dearest,
        people=people,
        under_way=row.in_flight if started else 0,
        attempts=max_attempts,
        longest_s=settings_of(row).max_call_duration_seconds,
        concurrency=row.max_concurrency,
        cap=None if cap is None else max(0, cap - (row.spend_micros if started else 0)),
        least_held_back=prices.cheapest.held_back,
    )
