"""Searching transcripts, and statistics over many calls."""

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, case, func, select

from callwright.contract.calls import transcripts as contract
from callwright.contract.calls.calls import Disposition
from callwright.contract.declaration.pagination import MOST_COUNTED, Page
from callwright.contract.deployments.call_price import CURRENCY
from callwright.service.handlers.calls.calls import COLUMNS, check_version
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.clock.clock import DAY, HOUR, whole_seconds
from callwright.service.platform.database.listing import Listing, filter_conditions
from callwright.service.platform.money import money
from callwright.service.platform.refusals import invalid
from callwright.service.platform.search_words import Query, read_query, words_of
from callwright.service.rules.percentiles import nearest_rank
from callwright.service.tables.schema import agents, calls, deployments, transcripts
from callwright.service.tables.transcript_search import finder
from callwright.service.telephony.engine import HangupCause

_C = calls.c
MAX_GROUPS = 200
SPOKEN = select(calls, transcripts.c.turns).outerjoin(transcripts, transcripts.c.call_id == _C.id)
"""Calls with what was said, read together: a page has up to 200 of them."""
_ANSWERED = ("answered", "transferred")


@handles(contract.search_transcripts)
def search_transcripts(asked: contract.SearchTranscripts, context: RequestContext) -> Page[contract.TranscriptMatch]:
    """A page of calls in which the words were said, the newest first."""
    check_version(asked)
    query = read_query(asked.query)
    if query is None:
        raise invalid("query", "needs at least one word")
    listing = Listing(contract.search_transcripts, SPOKEN, COLUMNS, _C.id)
    found = finder(context.connection, query, listing, asked, org_id=context.org_id, most=MOST_COUNTED)

    def to_resource(row: Row[Any]) -> contract.TranscriptMatch:
        return _match(row, query, asked)

    return context.page(listing, asked, to_resource, found)


def _match(row: Row[Any], query: Query, asked: contract.SearchTranscripts) -> contract.TranscriptMatch:
    hits = [
        turn
        for turn in json.loads(row.turns or "[]")
        if (asked.speaker is None or turn["role"] == asked.speaker) and query.occurs_in(words_of(turn["text"]))
    ]
    return resource(
        contract.TranscriptMatch,
        row,
        call_id=row.id,
        duration_seconds=whole_seconds(row.duration_ms),
        match_count=len(hits),
        snippets=[
            contract.Snippet(
                turn_index=turn["index"], role=turn["role"], start_seconds=turn["start_seconds"], text=turn["text"]
            )
            for turn in hits[: asked.snippets]
        ],
    )


_KEYS: dict[str, ColumnElement[Any]] = {
    "outcome": _C.outcome,
    "disposition": _C.disposition,
    "agent_id": _C.agent_id,
    "agent_version": _C.agent_version,
    "deployment_id": _C.deployment_id,
    "language": _C.language,
    "answered_by": _C.answered_by,
    "ended_by": _C.ended_by,
    "hour": (_C.created_at // HOUR) % 24,
    "day": _C.created_at // DAY,
}


_GOAL_MET: Disposition = "goal_met"
_HUNG_UP: HangupCause = "contact_hangup"
"""The person ended the call before the agent had said goodbye."""


def _grouped_by(asked: Sequence[contract.GroupBy]) -> list[contract.GroupBy]:
    """The fields to group by; a version stands beside its agent, since each agent counts its own."""
    names: list[contract.GroupBy] = []
    for name in asked:
        if name == "agent_version":
            names.append("agent_id")
        names.append(name)
    return list(dict.fromkeys(names))


def _shown(name: str, value: Any) -> str:
    if name == "hour":
        return f"{int(value):02d}"
    if name == "day":
        return datetime.fromtimestamp(int(value) * DAY / 1_000, UTC).strftime("%Y-%m-%d")
    return str(value)


@handles(contract.get_call_stats)
def get_call_stats(asked: contract.GetCallStats, context: RequestContext) -> contract.CallStats:
    """Counts of calls by up to three fields, with how long the answered ones lasted and what they cost."""
    check_version(asked)
    names = _grouped_by(asked.group_by)
    columns = [_KEYS[name] for name in names]
    keys = [column.label(f"key_{index}") for index, column in enumerate(columns)]
    listing = Listing(contract.get_call_stats, select(calls), COLUMNS, _C.id)
    conditions = [_C.org_id == context.org_id, *filter_conditions(listing, asked)]
    answered = func.sum(case((_C.outcome.in_(_ANSWERED), 1), else_=0))
    their_cost = func.sum(case((_C.outcome.in_(_ANSWERED), _C.cost_micros), else_=0))
    cut_off = func.sum(case((_C.outcome.in_(_ANSWERED) & (_C.hangup_cause == _HUNG_UP), 1), else_=0))
    reached = func.sum(case((_C.outcome.in_(_ANSWERED) & (_C.disposition == _GOAL_MET), 1), else_=0))
    counted = select(
        *keys,
        func.count().label("calls"),
        answered.label("answered"),
        reached.label("goal_met"),
        cut_off.label("hang_ups"),
        their_cost.label("answered_micros"),
    ).where(*conditions)
    rows = context.connection.execute(counted.group_by(*columns)).all()
    durations = _spreads(context, names, _C.duration_ms, [*conditions, _C.outcome.in_(_ANSWERED)])
    costs = _spreads(context, names, _C.cost_micros, [*conditions, _C.cost_micros > 0])
    total = sum(row.calls for row in rows)
    largest = sorted(rows, key=lambda row: (-row.calls, str(tuple(row))))
    named = _names_of(context, names, largest[:MAX_GROUPS])
    groups = [
        contract.CallGroup(
            key={name: _shown(name, value) for name, value in zip(names, key, strict=True) if value is not None},
            names={name: named[value] for name, value in zip(names, key, strict=True) if value in named},
            calls=row.calls,
            share=round(row.calls / total, 6),
            answered=row.answered,
            goal_met=row.goal_met,
            goal_met_share=_share(row.goal_met, row.answered),
            hang_ups=row.hang_ups,
            duration_seconds=_spread(durations.get(key), 1_000),
            cost=_money_spread(costs.get(key)),
            answered_cost=_answered_cost([row]),
        )
        for row in largest
        for key in [tuple(row)[: len(names)]]
    ]
    all_answered, all_reached = sum(row.answered for row in rows), sum(row.goal_met for row in rows)
    return contract.CallStats(
        calls=total,
        answered=all_answered,
        goal_met=all_reached,
        goal_met_share=_share(all_reached, all_answered),
        hang_ups=sum(row.hang_ups for row in rows),
        duration_seconds=_average(durations.values(), 1_000),
        cost=_money_average(costs.values()),
        answered_cost=_answered_cost(rows),
        groups=groups[:MAX_GROUPS],
        groups_left_out=max(0, len(groups) - MAX_GROUPS),
        currency=CURRENCY,
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None


def _names_of(context: RequestContext, names: Sequence[str], rows: Sequence[Row[Any]]) -> dict[Any, str]:
    """The names of the agents and deployments in the groups, by id."""
    found: dict[Any, str] = {}
    for name, table in (("agent_id", agents), ("deployment_id", deployments)):
        if name in names:
            ids = {tuple(row)[names.index(name)] for row in rows}
            own = select(table.c.id, table.c.name).where(table.c.org_id == context.org_id, table.c.id.in_(ids))
            found |= {row.id: row.name for row in context.connection.execute(own)}
    return found


def _spreads(
    context: RequestContext, names: Sequence[str], value: ColumnElement[Any], conditions: Sequence[ColumnElement[bool]]
) -> dict[tuple[Any, ...], Any]:
    """The median, 90th percentile and sum of a column in each group, found by rank, which both engines support."""
    partition = [_KEYS[name] for name in names]
    keys = [key.label(f"key_{index}") for index, key in enumerate(partition)]
    ranked = (
        select(
            *keys,
            value.label("value"),
            func.row_number().over(partition_by=partition, order_by=value).label("rank"),
            func.count().over(partition_by=partition).label("size"),
        )
        .where(*conditions)
        .subquery()
    )
    grouped = [ranked.c[f"key_{index}"] for index in range(len(names))]
    middle = case((ranked.c.rank == nearest_rank(ranked.c.size, 50), ranked.c.value))
    upper = case((ranked.c.rank == nearest_rank(ranked.c.size, 90), ranked.c.value))
    statement = select(
        *grouped,
        func.max(middle).label("p50"),
        func.max(upper).label("p90"),
        func.sum(ranked.c.value).label("total"),
        func.max(ranked.c.size).label("size"),
    ).group_by(*grouped)
    return {tuple(row)[: len(names)]: row for row in context.connection.execute(statement)}


def _spread(row: Any, unit: int) -> contract.Spread | None:
    if row is None:
        return None
    return contract.Spread(
        p50=round(row.p50 / unit, 6),
        p90=round(row.p90 / unit, 6),
        total=round(float(row.total) / unit, 6),
        mean=round(float(row.total) / row.size / unit, 6),
    )


def _money_spread(row: Any) -> contract.MoneySpread | None:
    if row is None:
        return None
    total = int(row.total)
    return contract.MoneySpread(
        p50=money(row.p50), p90=money(row.p90), total=money(total), mean=money(round(total / row.size))
    )


def _average(rows: Collection[Any], unit: int) -> contract.Average | None:
    """The sum and the mean over all groups; None without any value."""
    size, total = _sums(rows)
    if not size:
        return None
    return contract.Average(total=round(total / unit, 6), mean=round(total / size / unit, 6))


def _money_average(rows: Collection[Any]) -> contract.MoneyAverage | None:
    size, total = _sums(rows)
    return contract.MoneyAverage(total=money(total), mean=money(round(total / size))) if size else None


def _answered_cost(rows: Iterable[Any]) -> contract.MoneyAverage | None:
    """What answered calls cost; None without any."""
    counted = [(int(row.answered), int(row.answered_micros or 0)) for row in rows]
    size, total = sum(calls for calls, _ in counted), sum(micros for _, micros in counted)
    return contract.MoneyAverage(total=money(total), mean=money(round(total / size))) if size else None


def _sums(rows: Collection[Any]) -> tuple[int, int]:
    return sum(row.size for row in rows), sum(int(row.total) for row in rows)
