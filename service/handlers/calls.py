"""Calls, their transcripts and recordings."""

import json
import re
from typing import Any

from sqlalchemy import Row, bindparam, func, select, update

from callwright.contract import calls as contract
from callwright.contract.pagination import Page
from callwright.contract.problems import INVALID_CURSOR, INVALID_STATE_TRANSITION, NOT_FOUND, SERVICE_UNAVAILABLE
from callwright.service.domain.clock import moment, moment_or_none
from callwright.service.domain.money import CURRENCY, amount
from callwright.service.domain.refusals import Refusal, not_found
from callwright.service.engine.call_engine import Turn
from callwright.service.speech.recording_plan import RecordingPlan
from callwright.service.storage.listing import Listing, page_of
from callwright.service.storage.schema import calls, transcripts

from .work import Work, handles, plans_media

_C = calls.c
_FIND = select(calls).where(_C.id == bindparam("id"), _C.org_id == bindparam("org"))
_TURNS = select(transcripts.c.turns).where(transcripts.c.call_id == bindparam("id"))

_TURN_CURSOR = re.compile(r"turn-([0-9]{1,6})")


def find(work: Work, call_id: str) -> Row[Any]:
    """The call's row. Raises `Refusal`: not_found."""
    row = work.connection.execute(_FIND, {"id": call_id, "org": work.org_id}).one_or_none()
    if row is None:
        raise not_found()
    return row


def _cost(row: Row[Any]) -> contract.CallCost | None:
    if row.cost_micros is None:
        return None
    text = amount(row.cost_micros)
    item = contract.CostItem(item="outbound_call", quantity=row.billed_seconds, unit="second", amount=text)
    return contract.CallCost(amount=text, currency=CURRENCY, breakdown=[item] if row.billed_seconds else [])


def _recording(row: Row[Any]) -> contract.RecordingState:
    if row.ended_at is None:
        return contract.RecordingState(status="processing" if row.answered_at else "absent")
    if not row.turn_count:
        return contract.RecordingState(status="absent")
    return contract.RecordingState(status="available", duration_seconds=round(row.duration_ms / 1_000))


def show(row: Row[Any]) -> contract.Call:
    """A call as callers see it."""
    ringing = row.ringing_at
    until = row.answered_at or row.ended_at
    has_turns = row.turn_count > 0
    return contract.Call(
        id=row.id,
        call_id=row.id,
        call_type=row.call_type,
        simulated=row.simulated,
        deployment_id=row.deployment_id,
        agent_id=row.agent_id,
        audience_id=row.audience_id,
        contact_id=row.contact_id,
        phone_number_id=row.phone_number_id,
        attempt_number=row.attempt_number,
        from_number=row.from_number,
        to=row.to_number,
        status=row.status,
        outcome=row.outcome,
        disposition=row.disposition,
        disposition_source="policy" if row.disposition else None,
        callback_at=moment_or_none(row.callback_at),
        answered_by=row.answered_by,
        ended_by=row.ended_by,
        hangup_cause=row.hangup_cause,
        created_at=moment(row.created_at),
        started_at=moment_or_none(row.started_at),
        ringing_at=moment_or_none(ringing),
        answered_at=moment_or_none(row.answered_at),
        ended_at=moment_or_none(row.ended_at),
        ring_seconds=round((until - ringing) / 1_000) if ringing is not None and until is not None else 0,
        duration_seconds=round(row.duration_ms / 1_000),
        billed_seconds=row.billed_seconds,
        cost=_cost(row),
        recording_url=recording_url(row.id) if has_turns else None,
        recording=_recording(row),
        transcript_url=transcript_url(row.id) if has_turns else None,
        turn_count=row.turn_count,
        unanswered_questions=json.loads(row.unanswered_questions),
        variables=json.loads(row.variables),
        warnings=json.loads(row.warnings),
    )


def recording_url(call_id: str) -> str:
    """Where the recording is, below the service's address."""
    return f"/v1/calls/{call_id}/recording"


def transcript_url(call_id: str) -> str:
    """Where the transcript is, below the service's address."""
    return f"/v1/calls/{call_id}/transcript"


FILTERS = (
    "deployment_id",
    "agent_id",
    "audience_id",
    "contact_id",
    "call_type",
    "status",
    "outcome",
    "disposition",
    "to_number",
    "created_at",
    "language",
    "answered_by",
)
COLUMNS: dict[str, Any] = {
    **{name: _C[name] for name in FILTERS},
    "ended_at": func.coalesce(_C.ended_at, 0),
    "duration_seconds": _C.duration_ms,
}
"""What the filters and sorts of lists of calls mean."""


@handles(contract.list_calls)
def list_calls(asked: contract.ListCalls, work: Work) -> Page[contract.Call]:
    """A page of calls."""
    listing = Listing(contract.list_calls, select(calls).where(_C.org_id == work.org_id), COLUMNS, _C.id)
    return page_of(work.connection, work.cursors, listing, asked, org_id=work.org_id, show=show)


@handles(contract.get_call)
def get_call(asked: contract.GetCall, work: Work) -> contract.Call:
    """One call."""
    return show(find(work, asked.call_uuid))


def turns_of(work: Work, call_id: str) -> list[dict[str, Any]]:
    return json.loads(work.connection.execute(_TURNS, {"id": call_id}).scalar() or "[]")


@handles(contract.get_transcript)
def get_transcript(asked: contract.GetTranscript, work: Work) -> contract.Transcript:
    """What was said. Empty and `processing` while the call lasts, `absent` when nobody spoke."""
    row = find(work, asked.call_uuid)
    first = 0
    if asked.cursor is not None:
        position = _TURN_CURSOR.fullmatch(asked.cursor)
        if position is None:
            raise Refusal(INVALID_CURSOR, field="cursor")
        first = int(position[1])
    turns = turns_of(work, row.id)
    end = first + asked.per_page
    status = "available" if turns else "processing" if row.ended_at is None else "absent"
    return contract.Transcript(
        call_id=row.id,
        simulated=row.simulated,
        language=row.language or "",
        status=status,
        duration_seconds=row.duration_ms / 1_000,
        turn_count=len(turns),
        turns=[contract.TranscriptTurn.model_validate(turn) for turn in turns[first:end]],
        next_cursor=f"turn-{end}" if end < len(turns) else None,
    )


@plans_media(contract.get_recording)
def get_recording(asked: contract.GetRecording, work: Work) -> tuple[RecordingPlan, str]:
    """What the recording is made of. Raises `Refusal`: not_found when nobody spoke."""
    row = find(work, asked.call_uuid)
    if row.ended_at is None or not row.turn_count:
        raise Refusal(NOT_FOUND, "This call has no recording.")
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
        for turn in turns_of(work, row.id)
    )
    try:
        plan = RecordingPlan(
            call_id=row.id,
            duration_s=max(row.duration_ms / 1_000, turns[-1].end_s),
            turns=turns,
            agent_voice_id=row.voice_id,
            agent_language=row.language,
            seed=row.to_number,
        )
    except ValueError as error:  # an hour of talk, or a turn as long as a book
        raise Refusal(SERVICE_UNAVAILABLE, f"no recording can be made of this call: {error}") from error
    return plan, "audio/wav" if asked.format == "wav" else "audio/mpeg"


@handles(contract.hang_up_call)
def hang_up_call(asked: contract.HangUpCall, work: Work) -> contract.Call:
    """Asks for the end of a call; the dialler carries it out at once."""
    row = find(work, asked.call_uuid)
    if row.ended_at is not None:
        raise Refusal(
            INVALID_STATE_TRANSITION,
            f"the call is {row.status} already",
            details={"current_status": row.status, "allowed": []},
        )
    work.connection.execute(update(calls).where(_C.id == row.id).values(hang_up_requested_at=work.now_ms))
    return show(find(work, row.id))
