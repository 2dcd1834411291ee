"""Reading many conversations in a row, under a bound of bytes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Row, bindparam, literal, select, tuple_

from callwright.contract.calls import conversations as contract
from callwright.contract.calls.conversations import (
    MOST_CALLS,
    MOST_SILENT,
    Conversation,
    Conversations,
    DistinctTurn,
    ReadConversations,
    SaidOn,
    SpokenTurn,
)
from callwright.service.handlers.calls.calls import COLUMNS, check_version
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.clock.clock import whole_seconds
from callwright.service.platform.database.listing import (
    Listing,
    RowScan,
    Span,
    filter_conditions,
    in_order,
)
from callwright.service.tables.deployment_calls import OfDeployments
from callwright.service.tables.schema import calls, deployments, transcripts

_C = calls.c
_NEWEST_FIRST = ((_C.created_at, True), (_C.id, True))
_TURNS = select(transcripts.c.call_id, transcripts.c.turns).where(
    transcripts.c.call_id.in_(bindparam("ids", expanding=True))
)
_NAMES = select(deployments.c.id, deployments.c.name).where(deployments.c.id.in_(bindparam("ids", expanding=True)))
_CALLS_AT_ONCE = 100
"""Calls whose turns are read together."""
_BYTES_A_TOKEN = 4
_HEAD_BYTES = 300
"""Bytes of a conversation or an answer besides its turns."""
_SHOWN, _OF_MANY = 5, 2
"""Calls beside a saying: all of them up to the first number, else so many."""

Key = tuple[int, str]


@dataclass
class _Said:
    """A turn that was said on one or more calls."""

    text: str
    role: str
    count: int = 0
    calls: dict[str, Row[Any]] = field(default_factory=dict[str, Row[Any]])


@handles(contract.read_conversations)
def read_conversations(asked: ReadConversations, context: RequestContext) -> Conversations:
    """What was said on the calls that the filters leave, the newest first, as much as fits."""
    check_version(asked)
    if asked.view == "conversations":
        return _one_by_one(asked, context)
    return _put_together(asked, context)


def _one_by_one(asked: ReadConversations, context: RequestContext) -> Conversations:
    after: Key | None = None
    if asked.cursor is not None:
        values, _, _ = context.cursors.open(asked.cursor, _binding(asked, context))
        after = _key(values)
    left = asked.max_tokens * _BYTES_A_TOKEN - _HEAD_BYTES
    shown: list[Conversation] = []
    end: Key | None = None
    rows = _rows(asked, context, after, _CALLS_AT_ONCE + 1)
    names = _deployment_names(context, rows)
    for row, turns in _with_turns(context, rows[:_CALLS_AT_ONCE]):
        wanted = [turn for turn in turns if asked.speaker in (None, turn["role"])]
        sizes = [len(turn["text"].encode()) + 40 for turn in wanted]
        if shown and sum(sizes) + _HEAD_BYTES > left:
            break
        fitting = wanted[: max(_fitting(sizes, left - _HEAD_BYTES), 1)]
        shown.append(
            resource(
                Conversation,
                row,
                call_id=row.id,
                deployment_name=names.get(row.deployment_id),
                duration_seconds=whole_seconds(row.duration_ms),
                turns=[_spoken(turn) for turn in fitting],
                turns_left=len(wanted) - len(fitting),
            )
        )
        end = _place(row)
        left -= sum(sizes) + _HEAD_BYTES
    more = len(shown) < len(rows)
    cursor = context.cursors.seal(end, 1, 0, _binding(asked, context)) if more and end is not None else None
    covers_all = asked.cursor is None and not more
    silent = len(_rows(asked, context, None, MOST_SILENT, spoken=False)) if covers_all else None
    return Conversations(
        view=asked.view, calls=len(shown), silent_calls=silent, conversations=shown, next_cursor=cursor
    )


def _spoken(turn: Mapping[str, Any]) -> SpokenTurn:
    called = turn.get("tool_call")
    shown = SpokenTurn(index=turn["index"], role=turn["role"], text=turn["text"])
    return shown if called is None else shown.model_copy(update={"tool": called["name"], "ok": called["ok"]})


def _deployment_names(context: RequestContext, rows: Sequence[Row[Any]]) -> dict[str, str]:
    found = context.connection.execute(_NAMES, {"ids": list({row.deployment_id for row in rows})})
    return {row.id: row.name for row in found}


def _put_together(asked: ReadConversations, context: RequestContext) -> Conversations:
    """Equal turns of a stretch of calls, as many as fit. The cursor goes on in the stretch, then with the next one."""
    after: Key | None = None
    within: tuple[Key, Key] | None = None
    offset = 0
    if asked.cursor is not None:
        values, _, _ = context.cursors.open(asked.cursor, _binding(asked, context))
        if len(values) == 2:
            after = _key(values)
        else:
            within, offset = (_key(values[0]), _key(values[1])), values[2]
    rows = _rows(asked, context, after, MOST_CALLS + 1, within)
    stretch = rows[:MOST_CALLS]
    said = sorted(_said(asked, context, stretch), key=lambda one: -one.count)
    entries: list[DistinctTurn] = []
    left = asked.max_tokens * _BYTES_A_TOKEN - _HEAD_BYTES
    for one in said[offset:]:
        entry = DistinctTurn(
            text=one.text,
            role="agent" if one.role == "agent" else "contact",
            count=one.count,
            calls=len(one.calls),
            said_on=[
                resource(SaidOn, row, call_id=row.id)
                for row in list(one.calls.values())[: _SHOWN if len(one.calls) <= _SHOWN else _OF_MANY]
            ],
        )
        left -= len(orjson.dumps(entry.model_dump()))
        if entries and left < 0:
            break
        entries.append(entry)
    shown = offset + len(entries)
    following: Sequence[Any] | None = None
    if shown < len(said):
        following = [_place(stretch[0]), _place(stretch[-1]), shown]
    elif stretch and _rows(asked, context, _place(stretch[-1]), 1):
        following = _place(stretch[-1])
    cursor = context.cursors.seal(following, 1, 0, _binding(asked, context)) if following else None
    return Conversations(view=asked.view, calls=len(stretch), distinct_turns=entries, next_cursor=cursor)


def _place(row: Row[Any]) -> Key:
    return row.created_at, row.id


def _key(values: Sequence[Any]) -> Key:
    return values[0], values[1]


def _rows(
    asked: ReadConversations,
    context: RequestContext,
    after: Key | None,
    most: int,
    within: tuple[Key, Key] | None = None,
    *,
    spoken: bool = True,
) -> Sequence[Row[Any]]:
    """Calls on which somebody spoke, the newest first, behind `after`; or those from one to another, these included.

    Without `spoken` calls on which nobody did.
    """
    listing = Listing(contract.read_conversations, select(calls), COLUMNS, _C.id)
    conditions: list[ColumnElement[bool]] = [_C.turn_count > 0 if spoken else _C.turn_count == 0]
    if asked.view == "unanswered_questions":
        conditions.append(_C.unanswered_questions != "[]")
    if within is not None:
        place = tuple_(_C.created_at, _C.id)
        conditions += [place <= tuple_(*map(literal, within[0])), place >= tuple_(*map(literal, within[1]))]
    span = Span(_NEWEST_FIRST, most, last=after)
    if asked.deployment_id:
        others = filter_conditions(listing, asked.model_copy(update={"deployment_id": None}))
        finder = OfDeployments(context.connection, context.org_id, asked.deployment_id, [*others, *conditions])
        found = finder.rows(span)
    else:
        own = select(calls).where(_C.org_id == context.org_id, *filter_conditions(listing, asked), *conditions)
        found = RowScan(context.connection, own).rows(span)
    return context.connection.execute(in_order(found, _NEWEST_FIRST)).all()


def _said(asked: ReadConversations, context: RequestContext, rows: Sequence[Row[Any]]) -> Iterable[_Said]:
    found: dict[tuple[str, str], _Said] = {}
    spoken: Iterable[tuple[Row[Any], Sequence[Any]]] = (
        ((row, [{"role": "contact", "text": text} for text in orjson.loads(row.unanswered_questions)]) for row in rows)
        if asked.view == "unanswered_questions"
        else _with_turns(context, rows)
    )
    for row, turns in spoken:
        for turn in turns:
            if turn["role"] != "system" and asked.speaker in (None, turn["role"]):
                key = (turn["role"], " ".join(turn["text"].casefold().split()))
                one = found.setdefault(key, _Said(turn["text"], turn["role"]))
                one.count += 1
                one.calls[row.id] = row
    return found.values()


def _with_turns(context: RequestContext, rows: Sequence[Row[Any]]) -> Iterator[tuple[Row[Any], list[dict[str, Any]]]]:
    """The calls with their turns, which are read for some of them together."""
    for begin in range(0, len(rows), _CALLS_AT_ONCE):
        piece = rows[begin : begin + _CALLS_AT_ONCE]
        stored = context.connection.execute(_TURNS, {"ids": [row.id for row in piece]}).all()
        turns = {row.call_id: row.turns for row in stored}
        for row in piece:
            yield row, orjson.loads(turns.get(row.id, "[]"))


def _fitting(sizes: Sequence[int], most: int) -> int:
    total = 0
    for count, size in enumerate(sizes):
        total += size
        if total > most:
            return count
    return len(sizes)


def _binding(asked: ReadConversations, context: RequestContext) -> bytes:
    """What a cursor is valid for: one organization and one choice of calls."""
    given = asked.model_dump(mode="json", exclude={"cursor", "max_tokens"}, exclude_none=True)
    return orjson.dumps([context.org_id, asked.view, given], option=orjson.OPT_SORT_KEYS)
