"""Statistics over many calls."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select

from callwright.contract.calls import transcripts as contract
from callwright.contract.deployments.call_price import CURRENCY
from callwright.service.handlers.calls.call_groups import Group, Values, find_groups
from callwright.service.handlers.calls.calls import check_version
from callwright.service.handlers.calls.read_groups import IS_READ, read_groups
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.platform.clock.clock import DAY
from callwright.service.platform.money import money
from callwright.service.tables.schema import agents, deployments, phone_numbers

MAX_GROUPS = 200


def _grouped_by(asked: Sequence[contract.GroupBy]) -> list[contract.GroupBy]:
    """The fields to group by; a version stands beside its agent, since each agent counts its own."""
    names: list[contract.GroupBy] = []
    for name in asked:
        if name == "agent_version":
            names.append("agent_id")
        names.append(name)
    return list(dict.fromkeys(names))


def _shown(name: str, value: Any) -> str:
    if name in ("hour", "callee_hour"):
        return f"{int(value):02d}"
    if name == "day":
        return datetime.fromtimestamp(int(value) * DAY / 1_000, UTC).strftime("%Y-%m-%d")
    return str(value)


@handles(contract.get_call_stats)
def get_call_stats(asked: contract.GetCallStats, context: RequestContext) -> contract.CallStats:
    """Counts of calls by up to three fields, with how long the answered ones lasted and what they cost."""
    check_version(asked)
    names = _grouped_by(asked.group_by)
    found = (read_groups if IS_READ.intersection(names) else find_groups)(asked, names, context)
    total = sum(group.calls for group in found)
    largest = sorted(found, key=lambda group: (-group.calls, str(group.key)))[:MAX_GROUPS]
    named = _names_of(context, names, largest)
    groups = [
        contract.CallGroup(
            key={name: _shown(name, value) for name, value in zip(names, group.key, strict=True) if value is not None},
            names={name: named[value] for name, value in zip(names, group.key, strict=True) if value in named},
            calls=group.calls,
            share=round(group.calls / total, 6),
            answered=group.answered,
            goal_met=group.goal_met,
            goal_met_share=_share(group.goal_met, group.answered),
            hang_ups=group.hang_ups,
            duration_seconds=_spread(group.durations, 1_000),
            cost=_money_spread(group.costs),
            answered_cost=_answered_cost([group]),
        )
        for group in largest
    ]
    all_answered, all_reached = sum(group.answered for group in found), sum(group.goal_met for group in found)
    return contract.CallStats(
        calls=total,
        answered=all_answered,
        goal_met=all_reached,
        goal_met_share=_share(all_reached, all_answered),
        hang_ups=sum(group.hang_ups for group in found),
        duration_seconds=_average([group.durations for group in found], 1_000),
        cost=_money_average([group.costs for group in found]),
        answered_cost=_answered_cost(found),
        groups=groups,
        groups_left_out=len(found) - len(groups),
        currency=CURRENCY,
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None


def _names_of(context: RequestContext, names: Sequence[str], groups: Sequence[Group]) -> dict[Any, str]:
    """The names of the agents and deployments in the groups, and the numbers, by id."""
    found: dict[Any, str] = {}
    for name, table, column in (
        ("agent_id", agents, agents.c.name),
        ("deployment_id", deployments, deployments.c.name),
        ("phone_number_id", phone_numbers, phone_numbers.c.number),
    ):
        if name in names:
            ids = {group.key[names.index(name)] for group in groups}
            own = select(table.c.id, column.label("name")).where(table.c.org_id == context.org_id, table.c.id.in_(ids))
            found |= {row.id: row.name for row in context.connection.execute(own)}
    return found


def _spread(values: Values, unit: int) -> contract.Spread | None:
    if not values.size:
        return None
    p50, p90 = values.percentiles()
    return contract.Spread(
        p50=round(p50 / unit, 6),
        p90=round(p90 / unit, 6),
        total=round(values.total / unit, 6),
        mean=round(values.total / values.size / unit, 6),
    )


def _money_spread(values: Values) -> contract.MoneySpread | None:
    if not values.size:
        return None
    p50, p90 = values.percentiles()
    total, mean = values.total, round(values.total / values.size)
    return contract.MoneySpread(p50=money(p50), p90=money(p90), total=money(total), mean=money(mean))


def _average(values: Sequence[Values], unit: int) -> contract.Average | None:
    """The sum and the mean over all groups; None without any value."""
    size, total = _sums(values)
    if not size:
        return None
    return contract.Average(total=round(total / unit, 6), mean=round(total / size / unit, 6))


def _money_average(values: Sequence[Values]) -> contract.MoneyAverage | None:
    size, total = _sums(values)
    return contract.MoneyAverage(total=money(total), mean=money(round(total / size))) if size else None


def _answered_cost(groups: Sequence[Group]) -> contract.MoneyAverage | None:
    """What answered calls cost; None without any."""
    size, total = sum(one.answered for one in groups), sum(one.answered_micros for one in groups)
    return contract.MoneyAverage(total=money(total), mean=money(round(total / size))) if size else None


def _sums(values: Sequence[Values]) -> tuple[int, int]:
    return sum(one.size for one in values), sum(one.total for one in values)
