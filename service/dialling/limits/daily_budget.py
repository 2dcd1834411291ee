"""What a campaign's daily budget cap leaves: money, calls, and the moment from which a call may be dialled again."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row

from callwright.service.platform.money import micros
from callwright.service.tables import deployment_costs
from callwright.service.tables.campaign_settings import settings_of


@dataclass(frozen=True)
class DailyBudget:
    """How many calls the cap allows, None without a cap. `from_ms`: none before this moment, and then so many.

    `is_too_low`: the cap is below what is held back for one call.
    """

    calls: int | None = None
    from_ms: int | None = None
    is_too_low: bool = False


def cap_of(row: Row[Any]) -> int | None:
    """The daily budget cap of a campaign in micros; None without one."""
    cap = settings_of(row).daily_budget_cap
    return None if cap is None else micros(cap.amount)


def micros_left(connection: Connection, row: Row[Any], at_ms: int) -> int | None:
    """What may be held back for calls at a moment of the campaign's clock; None without a cap."""
    cap = cap_of(row)
    return None if cap is None else cap - deployment_costs.spent(connection, row.id, at_ms) - row.reserved_micros


def left(connection: Connection, row: Row[Any], at_ms: int, reservation: int) -> DailyBudget:
    """What the cap leaves at a moment of the campaign's clock, if `reservation` micros are held back for each call.

    While calls are under way nothing is put off: what is held back for them and not used comes back at their ends.
    """
    cap = cap_of(row)
    if cap is None:
        return DailyBudget()
    reservation = max(1, reservation)  # a price list may charge nothing
    if cap < reservation:
        return DailyBudget(0, is_too_low=True)
    free = cap - deployment_costs.spent(connection, row.id, at_ms) - row.reserved_micros
    if free >= reservation or row.in_flight:
        return DailyBudget(max(0, free // reservation))
    from_ms = deployment_costs.first_below(connection, row.id, at_ms, cap - reservation)
    free = cap - deployment_costs.spent(connection, row.id, from_ms)
    return DailyBudget(free // reservation, from_ms)


def first_dial_ms(connection: Connection, row: Row[Any], at_ms: int, reservation: int) -> int:
    """The first moment from `at_ms` on at which the cap allows a call."""
    from_ms = left(connection, row, at_ms, reservation).from_ms
    return at_ms if from_ms is None else from_ms
