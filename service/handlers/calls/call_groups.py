"""Groups of calls for statistics: what was counted of calls that have ended, and the few that have to be read.

Read are calls that have not ended, those of a part of an hour at both ends of a span of time, and those of one person.
What is not counted at all is in `read_groups`.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Select, String, case, cast, func, select
from sqlalchemy import and_ as all_of

from callwright.contract.calls.calls import Disposition
from callwright.contract.calls.transcripts import GetCallStats, GroupBy
from callwright.contract.calls.transcripts import get_call_stats as operation
from callwright.service.handlers.calls.calls import COLUMNS
from callwright.service.handlers.request_context import RequestContext
from callwright.service.platform.clock.clock import DAY, HOUR
from callwright.service.platform.database.listing import Listing, filter_conditions, wanted_of, without_index
from callwright.service.rules.value_counts import percentiles
from callwright.service.tables.call_counts import CUT_OFF
from callwright.service.tables.call_spans import Span, spans
from callwright.service.tables.counters import REACHED
from callwright.service.tables.schema import call_counts, call_kinds, calls

_C, _K, _N = calls.c, call_kinds.c, call_counts.c
_GOAL_MET: Disposition = "goal_met"
_NOT_COUNTED = ("contact_id", "to_number")
"""Columns of filters that counts do not have: few calls are with one person."""


@dataclass
class Values:
    """Durations or amounts of the calls of a group: how many, their sum, and a text for their percentiles."""

    size: int = 0
    total: int = 0
    texts: list[str] = field(default_factory=list[str])

    def percentiles(self) -> tuple[int, int]:
        """The median and the 90th percentile. There is at least one value."""
        p50, p90 = percentiles(" ".join(self.texts), (50, 90))
        return p50, p90


@dataclass
class Group:
    """Calls with the same key."""

    key: tuple[Any, ...]
    calls: int = 0
    answered: int = 0
    goal_met: int = 0
    hang_ups: int = 0
    answered_micros: int = 0
    durations: Values = field(default_factory=Values)
    costs: Values = field(default_factory=Values)


def find_groups(asked: GetCallStats, names: Sequence[GroupBy], context: RequestContext) -> list[Group]:
    """The calls that the filters leave, in groups by the fields `names`."""
    found: dict[tuple[Any, ...], Group] = {}
    for statement in _statements(asked, names, context.org_id):
        for row in context.connection.execute(statement):
            key = tuple(row)[: len(names)]
            _put(found.setdefault(key, Group(key)), row)
    return list(found.values())


def find_read_groups(asked: GetCallStats, names: Sequence[GroupBy], context: RequestContext) -> list[Group]:
    """The same from the calls themselves, which are all read. Among the fields may be columns that are not counted."""
    stored = Listing(operation, select(calls), COLUMNS, _C.id)
    statement = _of_calls(names, [_C.org_id == context.org_id, *filter_conditions(stored, asked)])
    found: dict[tuple[Any, ...], Group] = {}
    for row in context.connection.execute(statement):
        key = tuple(row)[: len(names)]
        _put(found.setdefault(key, Group(key)), row)
    return list(found.values())


def _put(group: Group, row: Any) -> None:
    """Adds what a statement has found to its group. Postgres gives sums as decimals."""
    if not row.calls:
        return
    group.calls += int(row.calls)
    group.answered += int(row.answered)
    group.goal_met += int(row.goal_met)
    group.hang_ups += int(row.hang_ups)
    group.answered_micros += int(row.answered_micros)
    for values, size, total, text in (
        (group.durations, row.answered, row.duration_ms, row.durations),
        (group.costs, row.charged, row.cost_micros, row.costs),
    ):
        values.size += int(size)
        values.total += int(total)
        if text:
            values.texts.append(text)


def _statements(asked: GetCallStats, names: Sequence[GroupBy], org_id: str) -> Generator[Select[Any]]:
    wanted = wanted_of(asked)
    stored = Listing(operation, select(calls), COLUMNS, _C.id)
    if any(one.column in _NOT_COUNTED for one in wanted):
        yield _of_calls(names, [_C.org_id == org_id, *filter_conditions(stored, asked)])
        return
    bounds = {one.test: one.values[0] for one in wanted if one.column == "created_at"}
    whenever = asked.model_copy(update={"created_from": None, "created_before": None})
    own = [_C.org_id == org_id, *filter_conditions(stored, whenever)]
    counted = Listing(operation, select(call_kinds), dict(_K.items()), _K.id)
    of_kinds = [_N.org_id == org_id, *filter_conditions(counted, whenever)]
    asked_for = Span(bounds.get("from"), bounds.get("before"), None)
    for open_calls in (_C.call_type != "inbound", _C.call_type == "inbound"):  # each has its own index
        yield _of_calls(
            names, [*own, _C.ended_at.is_(None), open_calls, *asked_for.conditions(without_index(_C.created_at))]
        )
    finest = HOUR if "hour" in names else DAY if "day" in names else None
    for span in spans(asked_for.from_ms, asked_for.before_ms, finest):
        if span.unit_ms is None:
            yield _of_calls(names, [*own, _C.ended_at.is_not(None), *span.conditions(_C.created_at)])
        else:
            unit = _N.span_ms == span.unit_ms
            yield _of_counts(names, [*of_kinds, unit, *span.conditions(_N.begins_at)])


def _keys(names: Sequence[GroupBy], columns: Any, moment: ColumnElement[int]) -> list[ColumnElement[Any]]:
    times = {"hour": (moment // HOUR) % 24, "day": moment // DAY}
    return [times[name] if name in times else columns[name] for name in names]


def _of_calls(names: Sequence[GroupBy], conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """What calls have in common, read one by one."""
    keys, answered, charged = _keys(names, _C, _C.created_at), _C.outcome.in_(REACHED), _C.cost_micros > 0
    return _grouped(
        keys,
        calls=func.count(),
        answered=_sum(answered, 1),
        goal_met=_sum(all_of(answered, _C.disposition == _GOAL_MET), 1),
        hang_ups=_sum(all_of(answered, _C.hangup_cause == CUT_OFF), 1),
        answered_micros=_sum(answered, func.coalesce(_C.cost_micros, 0)),
        duration_ms=_sum(answered, _C.duration_ms),
        durations=func.aggregate_strings(case((answered, cast(_C.duration_ms, String))), " "),
        charged=_sum(charged, 1),
        cost_micros=_sum(charged, _C.cost_micros),
        costs=func.aggregate_strings(case((charged, cast(_C.cost_micros, String))), " "),
    ).where(*conditions)


def _of_counts(names: Sequence[GroupBy], conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """What calls have in common, from what was counted."""
    keys, answered = _keys(names, _K, _N.begins_at), _K.outcome.in_(REACHED)
    counted = _grouped(
        keys,
        calls=func.sum(_N.calls),
        answered=_sum(answered, _N.calls),
        goal_met=_sum(all_of(answered, _K.disposition == _GOAL_MET), _N.calls),
        hang_ups=func.sum(_N.hang_ups),
        answered_micros=_sum(answered, _N.cost_micros),
        duration_ms=func.sum(_N.duration_ms),
        durations=func.aggregate_strings(func.nullif(_N.durations, ""), " "),
        charged=func.sum(_N.charged),
        cost_micros=func.sum(_N.cost_micros),
        costs=func.aggregate_strings(func.nullif(_N.costs, ""), " "),
    )
    return counted.join_from(call_counts, call_kinds, _K.id == _N.kind_id).where(*conditions)


def _sum(condition: ColumnElement[bool], value: Any) -> ColumnElement[int]:
    return func.sum(case((condition, value), else_=0))


def _grouped(keys: Sequence[ColumnElement[Any]], **columns: ColumnElement[Any]) -> Select[Any]:
    labels = [key.label(f"key_{index}") for index, key in enumerate(keys)]
    return select(*labels, *(column.label(name) for name, column in columns.items())).group_by(*keys)
