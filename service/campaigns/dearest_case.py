"""The most that a deployment can cost from now on; see `contract.deployments.dearest_case`."""

from typing import Any

from sqlalchemy import Row

from callwright.contract.deployments.dearest_case import DearestCase
from callwright.contract.deployments.dearest_case import dearest_case as dearest_of
from callwright.service.platform.money import PRICES
from callwright.service.tables.campaign_settings import settings_of


def dearest_case(row: Row[Any], people: int, max_attempts: int) -> DearestCase:
    """The most that a deployment can cost if `people` are called up to `max_attempts` times each."""
    started = row.started_at is not None
    cap: int | None = row.budget_cap_micros
    return dearest_of(
        PRICES.calls,
        people=people,
        under_way=row.in_flight if started else 0,
        attempts=max_attempts,
        longest_s=settings_of(row).max_call_duration_seconds,
        concurrency=row.max_concurrency,
        cap=None if cap is None else max(0, cap - (row.spend_micros if started else 0)),
    )
