"""Statistics are what counting the calls one by one would give, whatever has happened to them."""

from collections import defaultdict
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection, Row, select, update

from callwright.contract.calls.transcripts import CallGroup, CallStats
from callwright.service.platform.clock.clock import DAY, HOUR, SECOND, moment
from callwright.service.rules.percentiles import percentile
from callwright.service.tables import call_counts
from callwright.service.tables.schema import calls
from tests.support.calls.stored_calls import put_call
from tests.support.service import Tenant

FIRST_MS = 1_790_000_000_000
_REACHED = ("answered", "transferred")
_FIELDS: dict[str, Sequence[Any]] = {
    "deployment_id": ("dep_1", "dep_2", None),
    "agent_id": ("agt_1", "agt_2"),
    "agent_version": (1, 2, None),
    "audience_id": ("aud_1", None),
    "call_type": ("outbound", "inbound", "web"),
    "language": ("en-US", "de-DE"),
}
_ENDS: dict[str, Sequence[Any]] = {
    "outcome": ("answered", "answered", "transferred", "busy", "no_answer", "failed"),
    "status": ("completed", "failed"),
    "disposition": ("goal_met", "not_interested", None),
    "answered_by": ("human", "machine", None),
    "ended_by": ("agent", "contact", None),
    "hangup_cause": ("contact_hangup", "normal_clearing"),
}
_GROUPS = (
    "outcome",
    "disposition",
    "agent_id",
    "agent_version",
    "deployment_id",
    "hour",
    "language",
    "day",
    "ended_by",
)
_FILTERS = ("deployment_id", "agent_id", "call_type", "language", "outcome", "disposition", "status", "contact_id")


def _some(chance: Random, fields: dict[str, Sequence[Any]]) -> dict[str, Any]:
    return {name: chance.choice(values) for name, values in fields.items()}


def _end(chance: Random) -> dict[str, Any]:
    found = _some(chance, _ENDS)
    talked = chance.randrange(1, 600_000) if found["outcome"] in _REACHED else 0
    cost = chance.choice((0, 1_200, 4_800, chance.randrange(1, 90_000)))
    return found | {"duration_ms": talked, "cost_micros": cost, "ended_at": FIRST_MS + 9 * DAY}


async def _lived(tenant: Tenant, chance: Random, count: int) -> None:
    """Calls with all that can happen to them: they begin, end, cost something else later, and lose their person."""
    going: list[str] = []
    numbers = [f"+1212555{index:04d}" for index in range(100, 100 + count)]
    for index in range(count):
        fields: dict[str, Any] = _some(chance, _FIELDS) | {
            "created_at": FIRST_MS + chance.randrange(4 * DAY // SECOND) * SECOND // chance.choice((1, 40)),
            "attempt_number": index + 1,
            "contact_id": f"ctc_{chance.randrange(6)}",
            "to_number": numbers[index],
        }
        is_going = chance.random() < 0.3
        blank = dict.fromkeys(("outcome", "disposition", "ended_at", "cost_micros", "answered_at"))
        end: dict[str, Any] = {**blank, "status": "in_progress", "duration_ms": 0} if is_going else _end(chance)
        call_id = await put_call(tenant, **(fields | end))
        if is_going:
            going.append(call_id)

    def later(connection: Connection) -> None:
        for call_id in going[::2]:
            connection.execute(update(calls).where(calls.c.id == call_id).values(**_end(chance)))
        call_counts.add(connection, going[::2])
        ended = select(calls.c.id, calls.c.cost_micros).where(calls.c.cost_micros > 0).order_by(calls.c.id)
        for call in connection.execute(ended).all()[::3]:
            cheaper = chance.choice((0, chance.randrange(call.cost_micros)))
            connection.execute(update(calls).where(calls.c.id == call.id).values(cost_micros=cheaper))
            call_counts.change_cost(connection, call.id, call.cost_micros)

    await tenant.database.write(later)
    is_over = select(calls.c.to_number).where(calls.c.ended_at.is_not(None), calls.c.call_type == "outbound")
    gone = await tenant.database.read(lambda connection: connection.execute(is_over.limit(2)).scalars().all())
    for number in gone:
        await tenant.client.people.delete(number=number, confirm=True)


def _question(chance: Random) -> dict[str, Any]:
    asked: dict[str, Any] = {"group_by": chance.sample(_GROUPS, chance.randint(1, 3))}
    values = {**_FIELDS, **_ENDS, "contact_id": ("ctc_1", "ctc_2")}
    for name in chance.sample(_FILTERS, chance.choice((0, 0, 1, 2))):
        asked[name] = [chance.choice([value for value in values[name] if value is not None])]
    for name in ("created_from", "created_before"):
        if chance.random() < 0.5:
            whole = chance.choice((1, HOUR, DAY))
            asked[name] = moment((FIRST_MS + chance.randrange(4 * DAY)) // whole * whole)
    return asked


def _key(row: Row[Any], group_by: Sequence[str]) -> tuple[tuple[str, str], ...]:
    names = {*group_by, "agent_id"} if "agent_version" in group_by else {*group_by}
    at = moment(row.created_at)
    values = {column.name: getattr(row, column.name) for column in calls.c} | {
        "hour": f"{at:%H}",
        "day": f"{at:%Y-%m-%d}",
    }
    return tuple(sorted((name, str(values[name])) for name in names if values[name] is not None))


def _is_asked(row: Row[Any], asked: dict[str, Any]) -> bool:
    at_s = row.created_at // SECOND * SECOND
    for name, given in asked.items():
        if name == "created_from" and moment(at_s) < given.replace(microsecond=0):
            return False
        if name == "created_before" and moment(row.created_at) >= given.replace(microsecond=0):
            return False
        if isinstance(given, list) and name != "group_by" and getattr(row, name) not in given:
            return False
    return True


def _check_group(found: CallGroup | CallStats, rows: Sequence[Row[Any]]) -> None:
    reached = [row for row in rows if row.outcome in _REACHED]
    lasted, costs = [row.duration_ms for row in reached], [row.cost_micros for row in rows if row.cost_micros]
    assert found.calls == len(rows)
    assert found.answered == len(reached)
    assert found.goal_met == sum(row.disposition == "goal_met" for row in reached)
    assert found.hang_ups == sum(row.hangup_cause == "contact_hangup" for row in reached)
    assert (found.duration_seconds is None, found.cost is None) == (not lasted, not costs)
    if found.duration_seconds:
        assert found.duration_seconds.total == round(sum(lasted) / 1_000, 6)
    if found.cost:
        assert float(found.cost.total.amount) == sum(costs) / 1_000_000
    if reached:
        assert found.answered_cost is not None
        assert float(found.answered_cost.total.amount) == sum(row.cost_micros or 0 for row in reached) / 1_000_000
    if isinstance(found, CallGroup):
        if found.duration_seconds:
            assert found.duration_seconds.p50 == pytest.approx((percentile(lasted, 50) or 0) / 1_000, rel=1 / 63)
            assert found.duration_seconds.p90 == pytest.approx((percentile(lasted, 90) or 0) / 1_000, rel=1 / 63)
        if found.cost:
            assert float(found.cost.p90.amount) == pytest.approx((percentile(costs, 90) or 0) / 1e6, rel=1 / 63)


@pytest.mark.requirement("FILTER-16")
@pytest.mark.parametrize("seed", range(3))
async def test_statistics_count_what_the_calls_say_after_any_history(tenant: Tenant, seed: int) -> None:
    chance = Random(seed)
    await _lived(tenant, chance, 120)
    rows = await tenant.database.read(lambda connection: connection.execute(select(calls)).all())
    asked_for_some = 0
    for _ in range(40):
        asked = _question(chance)
        expected: dict[Any, list[Row[Any]]] = defaultdict(list[Row[Any]])
        for row in rows:
            if _is_asked(row, asked):
                expected[_key(row, asked["group_by"])].append(row)
        found = await tenant.client.calls.stats(**asked)
        assert {tuple(sorted(group.key.items())) for group in found.groups} == set(expected), asked
        for group in found.groups:
            _check_group(group, expected[tuple(sorted(group.key.items()))])
        _check_group(found, [row for group in expected.values() for row in group])
        asked_for_some += bool(expected)
    assert asked_for_some > 20
