"""Calls, their transcripts and recordings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Connection, Row, Select, bindparam, select, update

from callwright.contract.calls import calls as contract
from callwright.contract.declaration.field_types import in_whole_seconds
from callwright.contract.declaration.filters import filter_of
from callwright.contract.declaration.pagination import MOST_COUNTED, Page
from callwright.contract.problems import INVALID_STATE_TRANSITION, NOT_FOUND, SERVICE_UNAVAILABLE
from callwright.service.handlers.calls.shown_costs import cost_of
from callwright.service.handlers.calls.stored_parts import correction_of, inbound_of, resolution_of, transfer_of
from callwright.service.handlers.request_context import MediaRequest, RequestContext, handles, handles_media
from callwright.service.platform.clock.clock import DAY, instant_or_none, whole_seconds
from callwright.service.platform.database import few_rows
from callwright.service.platform.database.listing import Finder, Listing, filter_conditions, wanted_of
from callwright.service.platform.database.rounding import Rounded
from callwright.service.platform.own_address import recording_url, transcript_url
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.platform.search_words import stored_words
from callwright.service.rules.recording_presence import has_recording
from callwright.service.rules.recording_retention import deleted_before_ms
from callwright.service.rules.stored_turns import turns_between
from callwright.service.speech.line_recordings import RecordedCall
from callwright.service.speech.recording_content import RecordingContent
from callwright.service.speech.recordings import MediaType
from callwright.service.tables.call_spans import Span
from callwright.service.tables.calls_by_end import END, ByEnd
from callwright.service.tables.calls_by_name import Named
from callwright.service.tables.calls_of_kinds import OfKinds
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.deployment_calls import OfDeployments
from callwright.service.tables.recording_watermarks import watermark_of
from callwright.service.tables.schema import call_kinds, calls, deployments, legs, organizations, transcripts
from callwright.service.telephony.engine import Turn

_C = calls.c
_FIND = (
    select(calls, organizations.c.recordings_deleted_before)
    .join(organizations, organizations.c.id == _C.org_id)
    .where(_C.id == bindparam("id"), _C.org_id == bindparam("org"))
)
_NAMES = tuple(_C.keys())
_MEMBERS = [field.serialization_alias or name for name, field in contract.Call.model_fields.items()]
_MOMENTS = [name for name, field in contract.Call.model_fields.items() if in_whole_seconds(field)]
_SETTINGS = select(deployments.c.settings, deployments.c.inbound).where(deployments.c.id == bindparam("id"))
_UNCONFIRMED = select(legs.c.call_id).where(legs.c.org_id == bindparam("org"), legs.c.state == "unconfirmed")
_UNHEARD = (
    "The carrier has not said whether it has this call, so nobody knows whether the telephone rings. It is not placed "
    "again. Once its longest ringing and talking would be over, its person is held until you decide (resolve_call)."
)
_TURNS = select(transcripts.c.turns).where(transcripts.c.call_id == bindparam("id"))


def find(context: RequestContext, call_id: str) -> Row[Any]:
    """The call's row, and its organization's watermark of recordings. Raises `Refusal`: not_found."""
    return context.one(_FIND, id=call_id)


@dataclass(frozen=True)
class _Retention:
    """Recordings of calls that ended before `deleted_before_ms` are deleted, others `days` after their call."""

    deleted_before_ms: int
    days: int


def _retention(context: RequestContext, watermark_ms: int) -> _Retention:
    days = context.plan.recording_retention_days
    return _Retention(deleted_before_ms(days, watermark_ms, context.now_ms), days)


class _Recorded:
    """Whether the calls of a deployment are recorded, which cannot change after its start. Read once for each."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[str | None, bool] = {None: True}

    def __call__(self, deployment_id: str | None) -> bool:
        if deployment_id not in self._known:
            row: Any = self._connection.execute(_SETTINGS, {"id": deployment_id}).one_or_none()
            self._known[deployment_id] = row is None or settings_of(row).recording.enabled
        return self._known[deployment_id]


class _Unheard:
    """The calls of an organization of which their carrier has not said whether it has them. Read once, if at all."""

    def __init__(self, context: RequestContext) -> None:
        self._context = context
        self._ids: frozenset[str] | None = None

    def __contains__(self, call_id: str) -> bool:
        if self._ids is None:
            found = self._context.connection.execute(_UNCONFIRMED, {"org": self._context.org_id}).scalars()
            self._ids = frozenset(found)
        return call_id in self._ids


def _by_name(row: Row[Any]) -> dict[str, Any]:
    """The columns of a call. To look up each in the row would double the time of a list."""
    return dict(zip(_NAMES, row, strict=False))


def _has_recording(call: Mapping[str, Any]) -> bool:
    """Whether a call that has ended has a recording, if its deployment records."""
    return call["ended_at"] is not None and has_recording(
        carrier=call["carrier"],
        turns=call["turn_count"],
        recorded=call["recorded"],
        is_answered=call["answered_at"] is not None,
    )


def _recording(call: Mapping[str, Any], retention: _Retention, *, is_recorded: bool, exists: bool) -> dict[str, Any]:
    status, duration_ms, until_ms = "absent", 0, None
    if not is_recorded:
        status = "not_recorded"
    elif call["ended_at"] is None:
        status = "processing" if call["answered_at"] else "absent"
    elif not exists:
        status = "not_recorded" if call["turn_count"] else "absent"
    elif call["ended_at"] < retention.deleted_before_ms:
        status = "deleted"
    else:
        status, duration_ms, until_ms = "available", call["duration_ms"], call["ended_at"] + retention.days * DAY
    return {
        "status": status,
        "channels": 2,
        "format": "mp3",
        "duration_seconds": whole_seconds(duration_ms),
        "kept_until": instant_or_none(until_ms),
    }


def _members(
    row: Row[Any], retention: _Retention, public_url: str | None, recorded: _Recorded, unheard: _Unheard
) -> dict[str, Any]:
    """A call as JSON, its members in the order of the contract."""
    call = _by_name(row)
    ringing = call["ringing_at"]
    until = call["answered_at"] or call["ended_at"]
    has_turns = call["turn_count"] > 0
    is_recorded = recorded(call["deployment_id"])
    exists = _has_recording(call)
    is_heard = call["status"] != "queued" or call["id"] not in unheard
    shown = call | {
        "call_id": call["id"],
        "from": call["from_number"],
        "to": call["to_number"],
        "provider": call["carrier"],
        "disposition_source": "person" if call["corrected"] else "policy" if call["disposition"] else None,
        "correction": correction_of(call["corrected"]),
        **{name: instant_or_none(call[name]) for name in _MOMENTS},
        "resolved": resolution_of(call["resolved"]),
        "transfer": transfer_of(call["transfer"]),
        "inbound": inbound_of(call["inbound"]),
        "ring_seconds": whole_seconds(until - ringing) if ringing is not None and until is not None else 0,
        "duration_seconds": whole_seconds(call["duration_ms"]),
        "cost": cost_of(call["cost_micros"], call["billed_seconds"], call["cost_items"]),
        "recording_url": recording_url(public_url, call["id"]) if exists and is_recorded else None,
        "recording": _recording(call, retention, is_recorded=is_recorded, exists=exists),
        "transcript_url": transcript_url(public_url, call["id"]) if has_turns else None,
        "unanswered_questions": orjson.loads(call["unanswered_questions"]),
        "variables": orjson.loads(call["variables"]),
        "warnings": orjson.loads(call["warnings"]) if is_heard else [_UNHEARD],
    }
    return {name: shown[name] for name in _MEMBERS}


_FILTERS = (
    *("deployment_id", "agent_id", "audience_id", "contact_id", "call_type", "status", "outcome", "disposition"),
    *("to_number", "created_at", "language", "answered_by", "name_words", "agent_version"),
)
COLUMNS: dict[str, Any] = {
    **{name: _C[name] for name in _FILTERS},
    "ended": _C.ended_at,
    "ended_at": END,
    "duration_seconds": _C.duration_ms,
}
"""The columns of the filters and sorts of lists of calls."""
NARROW = ("to_number", "contact_id")
_COUNTED = {name for name in _FILTERS if name in call_kinds.c} - {"deployment_id", "agent_version"}
"""Columns of filters by whose counts calls are found. Deployments and versions have an index of their calls."""
_ROUNDED = {
    "created_at": Rounded(_C.created_at),
    "ended_at": Rounded(COLUMNS["ended_at"]),
    "duration_seconds": Rounded(_C.duration_ms, half=500),
}


def check_version(asked: contract.CallFilters) -> None:
    """Raises `Refusal`: invalid_field for a version without the one agent that has it: each agent counts its own."""
    if asked.agent_version is not None and len(asked.agent_id or ()) != 1:
        raise invalid("agent_version", "is of one agent: send its id as agent_id too, and no other")


def _by_end(listing: Listing, asked: contract.ListCalls, context: RequestContext) -> Finder:
    others = filter_conditions(listing, asked.model_copy(update={"ended_from": None, "ended_before": None}))
    bounds = {one.test: one.values[0] for one in wanted_of(asked) if one.column == "ended"}
    ended = Span(bounds.get("from"), bounds.get("before"), None)
    return ByEnd(context.connection, context.org_id, ended, others, listing.most(asked))


_WHENEVER = {"created_from": None, "created_before": None}


def _made(asked: contract.ListCalls) -> Span:
    """When the calls were made."""
    bounds = {one.test: one.values[0] for one in wanted_of(asked) if one.column == "created_at"}
    return Span(bounds.get("from"), bounds.get("before"), None)


def _of_kinds(listing: Listing, asked: contract.ListCalls, context: RequestContext) -> OfKinds:
    """By the filters that kinds of calls have. Others of the filters are held against the calls."""
    whenever = asked.model_copy(update=_WHENEVER)
    kinds = Listing(contract.list_calls, select(call_kinds), dict(call_kinds.c.items()), call_kinds.c.id)
    others = {name for name in type(asked).model_fields if _is_uncounted(name)}
    return OfKinds(
        context.connection,
        context.org_id,
        filter_conditions(listing, whenever),
        filter_conditions(kinds, whenever.model_copy(update=dict.fromkeys(others))),
        _made(asked),
        listing.most(asked),
    )


def _is_uncounted(name: str) -> bool:
    mark = filter_of(contract.ListCalls.model_fields[name])
    return mark is not None and (mark.column or name) not in {*_COUNTED, "created_at", "deployment_id"}


def _by_contact_name(listing: Listing, asked: contract.ListCalls, context: RequestContext, name: str) -> Finder | None:
    """By the name, or by filters that few calls have; None where many have the name and deployments are asked for."""
    named = Named(context.connection, context.org_id, name, _made(asked))
    others: Select[Any] | None = None
    if not named.are_few():
        if {one.column for one in wanted_of(asked)} & _COUNTED:
            others = _of_kinds(listing, asked, context).few(few_rows.FEW)
        if others is None and asked.deployment_id:
            return None
    return named.listed(
        filter_conditions(listing, asked.model_copy(update=_WHENEVER)), most=MOST_COUNTED, others=others
    )


@handles(contract.list_calls)
def list_calls(asked: contract.ListCalls, context: RequestContext) -> Page[contract.Call]:
    """A page of calls. Each is written as JSON here, without a model: somebody may read millions of them."""
    check_version(asked)
    own = select(calls).where(_C.org_id == context.org_id)
    counted = ("created_at", "deployment_id")
    listing = Listing(contract.list_calls, own, COLUMNS, _C.id, countable=counted, narrow=NARROW, rounded=_ROUNDED)
    finder: Finder | None = None
    wanted = {one.column for one in wanted_of(asked)}
    if wanted <= {*_COUNTED, *counted} and (wanted & _COUNTED or not asked.deployment_id):
        finder = _of_kinds(listing, asked, context)
    elif not wanted & {*NARROW, "agent_version"}:  # these have indexes that are better
        if asked.contact_name is not None and stored_words(asked.contact_name):
            finder = _by_contact_name(listing, asked, context, asked.contact_name)
        elif "ended" in wanted and not asked.deployment_id:
            finder = _by_end(listing, asked, context)
    if finder is None and asked.deployment_id:
        others = filter_conditions(listing, asked.model_copy(update={"deployment_id": None}))
        finder = OfDeployments(context.connection, context.org_id, asked.deployment_id, others, listing.most(asked))
    retention = _retention(context, watermark_of(context.connection, context.org_id))
    recorded, unheard = _Recorded(context.connection), _Unheard(context)

    def to_resource(row: Row[Any]) -> bytes:
        return orjson.dumps(_members(row, retention, context.settings.public_url, recorded, unheard))

    return context.page(listing, asked, to_resource, finder)


@handles(contract.get_call)
def get_call(asked: contract.GetCall, context: RequestContext) -> contract.Call:
    """One call."""
    return get_resource(context, asked.call_uuid)


def get_resource(context: RequestContext, call_id: str) -> contract.Call:
    """The call as callers see it. Raises `Refusal`: not_found."""
    row = find(context, call_id)
    retention = _retention(context, row.recordings_deleted_before)
    recorded, unheard = _Recorded(context.connection), _Unheard(context)
    return contract.Call.model_validate(_members(row, retention, context.settings.public_url, recorded, unheard))


def shown(context: RequestContext, rows: Sequence[Row[Any]]) -> list[contract.Call]:
    """Calls as callers see them. `rows` have the columns of `calls`."""
    retention = _retention(context, watermark_of(context.connection, context.org_id))
    known = context.settings.public_url, _Recorded(context.connection), _Unheard(context)
    return [contract.Call.model_validate(_members(row, retention, *known)) for row in rows]


def shown_in_json(context: RequestContext, rows: Sequence[Row[Any]]) -> list[dict[str, Any]]:
    """Calls as callers see them, as JSON, without a model: somebody may export millions of them."""
    retention = _retention(context, watermark_of(context.connection, context.org_id))
    known = context.settings.public_url, _Recorded(context.connection), _Unheard(context)
    return [_members(row, retention, *known) for row in rows]


def _stored_turns(context: RequestContext, call_id: str) -> str:
    return context.connection.execute(_TURNS, {"id": call_id}).scalar() or "[]"


@handles(contract.get_transcript)
def get_transcript(asked: contract.GetTranscript, context: RequestContext) -> contract.Transcript:
    """A page of the turns of a call; none while the call lasts (`processing`) and if nobody spoke (`absent`)."""
    row = find(context, asked.call_uuid)
    first, binding = 0, f"{context.org_id} turns of {row.id}".encode()
    if asked.cursor is not None:
        (first,), _, _ = context.cursors.open(asked.cursor, binding)
    end = first + asked.per_page
    turns = turns_between(_stored_turns(context, row.id), first, end) if row.turn_count else []
    status = "available" if row.turn_count else "processing" if row.ended_at is None else "absent"
    return contract.Transcript(
        call_id=row.id,
        simulated=row.simulated,
        language=row.language or "",
        status=status,
        duration_seconds=row.duration_ms / 1_000,
        turn_count=row.turn_count,
        turns=turns,
        next_cursor=context.cursors.seal([end], 1, row.turn_count, binding) if end < row.turn_count else None,
    )


@handles_media(contract.get_recording)
def get_recording(asked: contract.GetRecording, context: RequestContext) -> MediaRequest:
    """The contents of a recording, or the call on a line that has one as a file.

    Raises `Refusal`: not_found when nobody spoke, it was deleted, or none was made.
    """
    row = find(context, asked.call_uuid)
    if not _Recorded(context.connection)(row.deployment_id):
        raise Refusal(NOT_FOUND, "This call was not recorded: its deployment has recording.enabled false.")
    if not _has_recording(_by_name(row)):
        raise Refusal(NOT_FOUND, "This call has no recording.")
    if row.ended_at < _retention(context, row.recordings_deleted_before).deleted_before_ms:
        raise Refusal(NOT_FOUND, "The recording of this call was deleted.")
    media_type: MediaType = "audio/wav" if asked.format == "wav" else "audio/mpeg"
    if row.carrier is not None:  # what was really said is in its file or nowhere
        return RecordedCall(row.id, row.simulated), media_type
    turns = tuple(
        Turn(
            index=turn["index"],
            speaker=turn["role"],
            text=turn["text"],
            start_s=turn["start_seconds"],
            end_s=turn["end_seconds"],
            language=turn["language"],
            interrupted=turn["interrupted"],
        )
        for turn in orjson.loads(_stored_turns(context, row.id))
        if turn["role"] != "system"  # the call of a tool has no sound
    )
    try:
        content = RecordingContent(
            call_id=row.id,
            duration_s=max(row.duration_ms / 1_000, *(turn.end_s for turn in turns)),
            turns=turns,
            agent_voice_id=row.voice_id,
            agent_language=row.language,
            seed=row.from_number if row.call_type == "inbound" else row.to_number,
        )
    except ValueError as error:  # the call or one of its turns is too long
        raise Refusal(SERVICE_UNAVAILABLE, f"no recording can be made of this call: {error}") from error
    return content, media_type


@handles(contract.hang_up_call, preempts=True)
def hang_up_call(asked: contract.HangUpCall, context: RequestContext) -> contract.Call:
    """Asks the dialler to hang up a call, which it does at once."""
    row = find(context, asked.call_uuid)
    if row.ended_at is not None:
        raise Refusal(
            INVALID_STATE_TRANSITION,
            f"the call is {row.status} already",
            details={"current_status": row.status, "allowed": []},
        )
    context.connection.execute(update(calls).where(_C.id == row.id).values(hang_up_requested_at=context.now_ms))
    return get_resource(context, row.id)
