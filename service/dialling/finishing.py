"""Finishing calls: the transaction that records what happened, charges for it and decides about the contact."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, func, insert, select, update

from callwright.contract.calls import Transfer
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.contract.events import (
    CALL_COMPLETED,
    CALL_STARTED,
    CALL_TRANSFERRED,
    CallCompleted,
    CallStarted,
    CallTransferred,
)
from callwright.service.accounts.principals import SERVICE
from callwright.service.dialling import endings
from callwright.service.dialling.eligibility import do_not_call
from callwright.service.dialling.eligibility.gate import DO_NOT_CALL
from callwright.service.dialling.leases import mine, until
from callwright.service.dialling.queue import Rules, contacts_by_id
from callwright.service.platform.clock.clock import moment, whole_seconds
from callwright.service.platform.ids import Ids
from callwright.service.platform.json_text import json_text
from callwright.service.platform.money import PRICES
from callwright.service.platform.own_address import recording_url, transcript_url
from callwright.service.rules.retries import CALLBACK_MINUTES, Step, after_call
from callwright.service.tables import audit_log, counters, outbox, transcript_search
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.ledger import Movement, book, wallet_of
from callwright.service.tables.schema import calls, deployment_contacts, deployments, transcripts
from callwright.service.telephony.engine import CallRequest, CallResult

_C, _K = calls.c, deployment_contacts.c
_END = (
    update(calls)
    .where(_C.id == bindparam("b_id"))
    .values(
        {
            name: bindparam(f"b_{name}")
            for name in (
                "status",
                "outcome",
                "disposition",
                "callback_at",
                "answered_by",
                "ended_by",
                "hangup_cause",
                "started_at",
                "ringing_at",
                "answered_at",
                "ended_at",
                "duration_ms",
                "billed_seconds",
                "cost_micros",
                "turn_count",
                "unanswered_questions",
                "warnings",
            )
        }
    )
)
_SETTLE = (
    update(deployment_contacts)
    .where(_K.deployment_id == bindparam("b_deployment"), _K.id == bindparam("b_id"))
    .values(
        status=bindparam("b_status"),
        due_at=bindparam("b_next"),
        next_at=bindparam("b_next"),
        last_outcome=bindparam("b_outcome"),
        last_disposition=bindparam("b_disposition"),
        status_reason=bindparam("b_reason"),
    )
)
_ADD_TRANSCRIPT = insert(transcripts)
_HELD = select(func.sum(_C.reserved_micros)).where(_C.id.in_(bindparam("ids", expanding=True)))
"""What was held back for calls when they were claimed, whatever the price is now."""


@dataclass(frozen=True)
class Finished:
    """A call that ended. `dial_ms` is when it was dialled; `started_told` says call.started went out already."""

    request: CallRequest
    result: CallResult
    dial_ms: int
    started_told: bool = False

    def at(self, offset_s: float | None) -> int | None:
        """A moment of the call."""
        return None if offset_s is None else self.dial_ms + round(offset_s * 1_000)

    @property
    def ended_ms(self) -> int:
        """When it ended."""
        return self.dial_ms + round(self.result.ended_s * 1_000)

    @property
    def billed_seconds(self) -> int:
        """Whole seconds that are charged; a part of one counts as one."""
        return ceil(round(self.result.duration_s, 3))


def finish(
    connection: Connection,
    ids: Ids,
    rules: Rules,
    finished: Sequence[Finished],
    *,
    owner: str,
    now_ms: int,
    lease_until_ms: int,
    channel_free_at: Sequence[int] | None = None,
    public_url: str | None = None,
) -> None:
    """Records calls that ended; each is charged by the second from its answer.

    `channel_free_at`: when each channel is free again, where that is kept.

    Whoever asked not to be called again is called by no campaign of the organization from this transaction on.

    Raises:
        LeaseLost: another process drives the deployment; it finishes these calls itself.
    """
    row: Row[Any] = mine(connection, rules.row.id, owner)
    wallet_of(connection, row.org_id, lock=True)  # before the calls, in the order in which claims lock
    contacts = contacts_by_id(connection, row.id, [one.request.contact_id for one in finished])
    policy = settings_of(row).retry_policy  # as it is now: it may have changed during the calls
    steps = [_step(policy, one, contacts[one.request.contact_id], row.status) for one in finished]
    costs = [PRICES.call(one.billed_seconds) for one in finished]
    connection.execute(_END, [_ended(one, cost) for one, cost in zip(finished, costs, strict=True)])
    spoken = [one for one in finished if one.result.turns]
    if spoken:
        connection.execute(_ADD_TRANSCRIPT, [_transcript(one) for one in spoken])
        words = [
            {"call_id": one.request.call_id, "words": transcript_search.searchable(t.text for t in one.result.turns)}
            for one in spoken
        ]
        transcript_search.add(connection, words)
    connection.execute(
        _SETTLE,
        [
            {
                "b_deployment": row.id,
                "b_id": one.request.contact_id,
                "b_status": state,
                "b_next": step.due_ms if state == "retry_waiting" else None,
                "b_outcome": one.result.outcome,
                "b_disposition": one.result.disposition,
                "b_reason": DO_NOT_CALL if state == "suppressed" else None,
            }
            for one, (step, state) in zip(finished, steps, strict=True)
        ],
    )
    asked = {one.request.to: one.request.call_id for one in finished if one.result.disposition == "do_not_call"}
    do_not_call.opt_out(connection, ids, row.org_id, asked, simulated=row.simulated, now_ms=now_ms)
    reserved: int = connection.execute(_HELD, {"ids": [one.request.call_id for one in finished]}).scalar_one()
    charges = [
        Movement("call_charge", -cost, "call", one.request.call_id, "outbound call")
        for one, cost in zip(finished, costs, strict=True)
        if cost
    ]
    book(connection, ids, row.org_id, charges, now_ms=now_ms, reserved_micros=-reserved)
    _count(
        connection,
        row,
        finished,
        [state for _, state in steps],
        sum(costs),
        reserved,
        until(connection, now_ms, lease_until_ms),
        channel_free_at,
    )
    _report(connection, ids, row, finished, now_ms, public_url)
    if row.status == "cancelled":
        endings.cancelled(connection, ids, row.id)


def _step(policy: RetryPolicy, one: Finished, contact: Row[Any], status: str) -> tuple[Step, str]:
    result = one.result
    callback = result.callback_after_s
    step = after_call(
        policy,
        outcome=result.outcome,
        disposition=result.disposition,
        duration_s=result.duration_s,
        attempt_times_ms=json.loads(contact.attempt_times),
        ended_ms=one.ended_ms,
        callback_ms=None if callback is None else one.ended_ms + round(max(callback, CALLBACK_MINUTES * 60) * 1_000),
    )
    stopped = step.state == "retry_waiting" and status in ("cancelled", "completed", "failed")
    return step, "cancelled" if stopped else step.state


def _ended(one: Finished, cost: int) -> dict[str, Any]:
    result = one.result
    callback = result.callback_after_s
    return {
        "b_id": one.request.call_id,
        "b_status": "failed" if result.outcome == "failed" else "completed",
        "b_outcome": result.outcome,
        "b_disposition": result.disposition,
        "b_callback_at": None if callback is None else one.ended_ms + round(callback * 1_000),
        "b_answered_by": result.answered_by,
        "b_ended_by": result.ended_by,
        "b_hangup_cause": result.hangup_cause,
        "b_started_at": one.at(result.initiated_s),
        "b_ringing_at": one.at(result.ringing_s),
        "b_answered_at": one.at(result.answered_s),
        "b_ended_at": one.ended_ms,
        "b_duration_ms": round(result.duration_s * 1_000),
        "b_billed_seconds": one.billed_seconds,
        "b_cost_micros": cost,
        "b_turn_count": len(result.turns),
        "b_unanswered_questions": json_text(list(result.unanswered_questions)),
        "b_warnings": json_text(list(result.warnings)),
    }


def _transcript(one: Finished) -> dict[str, Any]:
    turns = [
        {
            "index": turn.index,
            "role": turn.speaker,
            "text": turn.text,
            "start_seconds": turn.start_s,
            "end_seconds": turn.end_s,
            "language": turn.language,
            "source": turn.source,
            "interrupted": turn.interrupted,
        }
        for turn in one.result.turns
    ]
    return {"call_id": one.request.call_id, "org_id": one.request.org_id, "turns": json_text(turns)}


def _count(
    connection: Connection,
    row: Row[Any],
    finished: Sequence[Finished],
    states: Sequence[str],
    cost: int,
    reserved: int,
    lease_until: ColumnElement[int],
    channel_free_at: Sequence[int] | None,
) -> None:
    outcomes = [one.result.outcome for one in finished]
    dispositions = [one.result.disposition for one in finished if one.result.disposition is not None]
    connection.execute(
        update(deployments)
        .where(deployments.c.id == row.id)
        .values(
            states=counters.moved(row.states, [("in_flight", state) for state in states]),
            outcomes=counters.added(row.outcomes, outcomes),
            dispositions=counters.added(row.dispositions, dispositions),
            answered=row.answered + sum(outcome in counters.REACHED for outcome in outcomes),
            voicemails=row.voicemails + sum(outcome in counters.MACHINES for outcome in outcomes),
            spend_micros=row.spend_micros + cost,
            reserved_micros=row.reserved_micros - reserved,
            in_flight=row.in_flight - len(finished),
            channel_free_at=row.channel_free_at if channel_free_at is None else json_text(list(channel_free_at)),
            clock_ms=row.clock_ms
            if channel_free_at is not None
            else max(row.clock_ms, *(one.ended_ms for one in finished)),
            lease_until=lease_until,
        )
    )


def started_event(ids: Ids, row: Row[Any], request: CallRequest, at_ms: int) -> dict[str, Any]:
    """The outbox row that says the carrier accepted a call."""
    data = CallStarted(
        call_id=request.call_id,
        deployment_id=row.id,
        agent_id=row.agent_id,
        call_type="outbound",
        attempt_number=request.attempt,
        simulated=row.simulated,
    )
    return outbox.event_row(ids, row.org_id, CALL_STARTED, data, at_ms=at_ms, simulated=row.simulated)


def _transfer(one: Finished) -> Transfer:
    return Transfer(type="warm", to=None, bridged_at=moment(one.ended_ms))


def _transferred_event(ids: Ids, row: Row[Any], one: Finished) -> dict[str, Any]:
    """The outbox row that says a person has taken over, which is the last thing that happens on the agent's side."""
    data = CallTransferred(
        call_id=one.request.call_id,
        deployment_id=row.id,
        agent_id=row.agent_id,
        transfer=_transfer(one),
        simulated=row.simulated,
    )
    return outbox.event_row(ids, row.org_id, CALL_TRANSFERRED, data, at_ms=one.ended_ms, simulated=row.simulated)


def _report(
    connection: Connection,
    ids: Ids,
    row: Row[Any],
    finished: Sequence[Finished],
    now_ms: int,
    public_url: str | None,
) -> None:
    events: list[dict[str, Any]] = []
    for one in finished:
        result, request = one.result, one.request
        if not one.started_told:
            events.append(started_event(ids, row, request, one.at(result.initiated_s) or one.dial_ms))
        if result.outcome == "transferred":
            events.append(_transferred_event(ids, row, one))
        data = CallCompleted(
            call_id=request.call_id,
            deployment_id=row.id,
            agent_id=row.agent_id,
            call_type="outbound",
            attempt_number=request.attempt,
            simulated=row.simulated,
            duration_seconds=whole_seconds(round(result.duration_s * 1_000)),
            outcome=result.outcome,
            recording_url=recording_url(public_url, request.call_id) if result.turns else None,
            transcript_url=transcript_url(public_url, request.call_id) if result.turns else None,
            status="failed" if result.outcome == "failed" else "completed",
            disposition=result.disposition,
            hangup_cause=result.hangup_cause,
            answered_by=result.answered_by,
            transfer=_transfer(one) if result.outcome == "transferred" else None,
        )
        events.append(
            outbox.event_row(ids, row.org_id, CALL_COMPLETED, data, at_ms=one.ended_ms, simulated=row.simulated)
        )
    outbox.add_events(connection, events)
    entries = [
        audit_log.entry_row(ids, row.org_id, "call.ended", one.request.call_id, by=SERVICE, at_ms=now_ms)
        for one in finished
    ]
    audit_log.add_entries(connection, entries)
