"""Groups of calls by what is not counted: the hour and the weekday of the callee, and the own number.

Every call is read, so there may be few. Where and when a callee was is what the gate noted when it allowed the call.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from callwright.contract.calls.calls import Disposition
from callwright.contract.calls.transcripts import MOST_READ, GetCallStats, GroupBy
from callwright.contract.calls.transcripts import get_call_stats as operation
from callwright.contract.checks.counts import count_of
from callwright.service.handlers.calls.call_groups import Group, find_groups, find_read_groups
from callwright.service.handlers.calls.calls import COLUMNS
from callwright.service.handlers.request_context import RequestContext
from callwright.service.platform.clock.clock import DAY, HOUR
from callwright.service.platform.database.listing import Listing, filter_conditions
from callwright.service.platform.refusals import invalid
from callwright.service.tables.call_counts import CUT_OFF
from callwright.service.tables.counters import REACHED
from callwright.service.tables.schema import calls

_C = calls.c
_OF_CALLEE = {"callee_hour", "callee_weekday"}
IS_READ = {*_OF_CALLEE, "phone_number_id"}
"""The fields to group by for which calls are read one by one."""
_GOAL_MET: Disposition = "goal_met"
_LOCAL_TIME = '"local_time":"'
_MEASURED = (
    *(_C.evidence, _C.created_at),
    *(_C.outcome, _C.disposition, _C.hangup_cause, _C.duration_ms, _C.cost_micros),
)
_WEEKDAYS = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}


def read_groups(asked: GetCallStats, names: Sequence[GroupBy], context: RequestContext) -> list[Group]:
    """The calls that the filters leave, in groups by the fields `names`.

    Raises `Refusal`: invalid_field if the filters leave more than `MOST_READ` calls.
    """
    total = sum(group.calls for group in find_groups(asked, (), context))
    if total > MOST_READ:
        fields = ", ".join(sorted(IS_READ.intersection(names)))
        raise invalid(
            "group_by",
            f"{fields} is counted call by call, of at most {count_of(MOST_READ, 'call')}, and the filters leave "
            f"{total:,}: send created_from and created_before, or deployment_id",
        )
    if not _OF_CALLEE.intersection(names):
        return find_read_groups(asked, names, context)
    listing = Listing(operation, select(calls), COLUMNS, _C.id)
    columns = [_C[name] for name in names if name in _C]
    own = select(*_MEASURED, *columns).where(_C.org_id == context.org_id, *filter_conditions(listing, asked))
    found: dict[tuple[Any, ...], Group] = {}
    for row in context.connection.execute(own):
        evidence, created_at, outcome, disposition, hangup_cause, duration_ms, cost_micros, *others = tuple[Any, ...](
            row
        )
        weekday, hour = _of_callee(evidence)
        values = {
            "callee_weekday": weekday,
            "callee_hour": hour,
            "hour": created_at // HOUR % 24,
            "day": created_at // DAY,
            **dict(zip((column.name for column in columns), others, strict=True)),
        }
        key = tuple(values[name] for name in names)
        group = found.get(key)
        if group is None:
            group = found[key] = Group(key)
        _add(group, outcome, disposition, hangup_cause, duration_ms, cost_micros or 0)
    return list(found.values())


def _of_callee(evidence: str | None) -> tuple[str | None, int | None]:
    """The weekday and the hour in `Sat 2026-11-28 17:01:02 -0500`; None for a call that no gate has allowed."""
    shown = "" if evidence is None else evidence.partition(_LOCAL_TIME)[2][:17]
    weekday, hour = shown[:3], shown[15:17]
    return (weekday, int(hour)) if weekday in _WEEKDAYS and hour.isdigit() else (None, None)


def _add(
    group: Group,
    outcome: str | None,
    disposition: str | None,
    hangup_cause: str | None,
    duration_ms: int,
    cost_micros: int,
) -> None:
    group.calls += 1
    if outcome in REACHED:
        group.answered += 1
        group.goal_met += disposition == _GOAL_MET
        group.hang_ups += hangup_cause == CUT_OFF
        group.answered_micros += cost_micros
        group.durations.size += 1
        group.durations.total += duration_ms
        group.durations.texts.append(str(duration_ms))
    if cost_micros > 0:
        group.costs.size += 1
        group.costs.total += cost_micros
        group.costs.texts.append(str(cost_micros))
