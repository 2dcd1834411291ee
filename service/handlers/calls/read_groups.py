"""Groups of calls by what is not counted: the hour and the weekday of the callee, and the own number.

Every call is read, so there may be few. Where and when a callee was is what the gate noted when it allowed the call.
"""

from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import Row, select

from callwright.contract.calls.calls import Disposition
from callwright.contract.calls.transcripts import MOST_READ, GetCallStats, GroupBy
from callwright.contract.calls.transcripts import get_call_stats as operation
from callwright.service.handlers.calls.call_groups import Group, find_groups
from callwright.service.handlers.calls.calls import COLUMNS
from callwright.service.handlers.request_context import RequestContext
from callwright.service.platform.clock.clock import DAY, HOUR
from callwright.service.platform.database.listing import Listing, filter_conditions
from callwright.service.platform.refusals import invalid
from callwright.service.tables.call_counts import CUT_OFF
from callwright.service.tables.counters import REACHED
from callwright.service.tables.schema import calls

_C = calls.c
_OF_CALLEE = ("callee_hour", "callee_weekday")
IS_READ = {*_OF_CALLEE, "phone_number_id"}
"""The fields to group by for which calls are read one by one."""
_GOAL_MET: Disposition = "goal_met"
_MEASURED = (_C.outcome, _C.disposition, _C.hangup_cause, _C.duration_ms, _C.cost_micros, _C.created_at)
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
            f"{fields} is counted call by call, of at most {MOST_READ:,} calls, and the filters leave {total:,}: "
            "send created_from and created_before, or deployment_id",
        )
    listing = Listing(operation, select(calls), COLUMNS, _C.id)
    columns = [_C[name] for name in names if name in _C]
    evidence = [_C.evidence] if {*_OF_CALLEE}.intersection(names) else []
    statement = select(*dict.fromkeys((*columns, *_MEASURED, *evidence)))
    own = statement.where(_C.org_id == context.org_id, *filter_conditions(listing, asked))
    found: dict[tuple[Any, ...], Group] = {}
    for row in context.connection.execute(own):
        key = tuple(_value(row, name) for name in names)
        _add(found.setdefault(key, Group(key)), row)
    return list(found.values())


def _value(row: Row[Any], name: GroupBy) -> Any:
    if name == "hour":
        return row.created_at // HOUR % 24
    if name == "day":
        return row.created_at // DAY
    if name in _OF_CALLEE:
        return _of_callee(row.evidence, name)
    return getattr(row, name)


def _of_callee(evidence: str | None, name: GroupBy) -> str | int | None:
    """The weekday or the hour in `Sat 2026-11-28 17:01:02 -0500`; None for a call that no gate has allowed."""
    shown: str = orjson.loads(evidence).get("local_time") or "" if evidence else ""
    weekday, hour = shown[:3], shown[15:17]
    if weekday not in _WEEKDAYS or not hour.isdigit():
        return None
    return weekday if name == "callee_weekday" else int(hour)


def _add(group: Group, row: Row[Any]) -> None:
    group.calls += 1
    cost = row.cost_micros or 0
    if row.outcome in REACHED:
        group.answered += 1
        group.goal_met += row.disposition == _GOAL_MET
        group.hang_ups += row.hangup_cause == CUT_OFF
        group.answered_micros += cost
        group.durations.size += 1
        group.durations.total += row.duration_ms
        group.durations.texts.append(str(row.duration_ms))
    if cost > 0:
        group.costs.size += 1
        group.costs.total += cost
        group.costs.texts.append(str(cost))
