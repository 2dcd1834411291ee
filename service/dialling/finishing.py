"""Finishing calls: the transaction that records a call, charges for it and decides whether it is made again."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, bindparam, update

from callwright.contract.declaration.model import Resource
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.contract.events import (
    CALL_COMPLETED,
    CALL_STARTED,
    CALL_UNCONFIRMED,
    CallCompleted,
    CallStarted,
    CallUnconfirmed,
    EventType,
)
from callwright.service.accounts.principals import SERVICE
from callwright.service.dialling import call_transcripts, callbacks, endings, transfers
from callwright.service.dialling.call_costs import costs_of
from callwright.service.dialling.eligibility import do_not_call
from callwright.service.dialling.eligibility.gate import DO_NOT_CALL
from callwright.service.dialling.heard_opt_outs import heard
from callwright.service.dialling.leases import mine, until
from callwright.service.dialling.limits.coverage import Funds, Held, KnownCall, cover, held_for
from callwright.service.dialling.queue import CalledBefore, Rules, called_before, change_contacts
from callwright.service.dialling.stops import auto_stops as stops
from callwright.service.dialling.stops import call_reviews
from callwright.service.dialling.tool_events import tool_events
from callwright.service.platform.clock.clock import MINUTE, whole_seconds
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.ids import Ids
from callwright.service.platform.json_text import json_text
from callwright.service.platform.own_address import recording_url, transcript_url
from callwright.service.rules.cost_items import Cost
from callwright.service.rules.percentiles import percentile
from callwright.service.rules.recording_presence import has_recording
from callwright.service.rules.retry_policy import CALLBACK_MINUTES, Step, after_call
from callwright.service.tables import audit_log, call_counts, counters, deployment_costs, inbound_calls, outbox
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.ledger import Movement, book, wallet_of
from callwright.service.tables.schema import calls, deployments
from callwright.service.telephony.engine import CallRequest, CallResult

_C = calls.c
NOT_DIALLED_AGAIN_MS = MINUTE
"""How long a contact waits whose call could not be sent, for example because the carrier is not there."""
_END = Prepared(update(calls).where(_C.id == bindparam("b_id")))


@dataclass(frozen=True)
class Finished:
    """A call that ended, dialled at `dial_ms`. `started_told`: no event call.started is to be sent any more."""

    request: CallRequest
    result: CallResult
    dial_ms: int
    started_told: bool = False

    @property
    def is_dialled(self) -> bool:
        """False for a call that was claimed and is not made any more: it uses up no attempt."""
        return self.result.was_dialled

    def at(self, offset_s: float | None) -> int | None:
        """The time of a moment of the call, `offset_s` after dialling."""
        return None if offset_s is None else self.dial_ms + round(offset_s * 1_000)

    @property
    def ended_ms(self) -> int:
        """When it ended."""
        return self.dial_ms + round(self.result.ended_s * 1_000)


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
    decides_cover: bool = False,
) -> None:
    """Records calls that ended; each is charged from its answer, by the price that was agreed when it was claimed.

    With `decides_cover` the results were known in advance, and here a call is ended early for which no money is left.
    `channel_free_at` is when each channel is free again; None if that is not stored. From this transaction on no
    campaign of the organization calls a person who asked not to be called again.

    Raises:
        LeaseLost: another process drives the deployment; it finishes these calls itself.
    """
    row: Row[Any] = mine(connection, rules.row.id, owner)
    finished = [replace(one, result=heard(one.result)) for one in finished]
    wallet = wallet_of(connection, row.org_id, lock=True)  # before the calls, as claims lock them
    held = held_for(connection, [one.request.call_id for one in finished])
    reserved = sum(one.micros for one in held.values())
    extended = 0
    if decides_cover:
        finished, extended = _as_covered(
            finished, held, Funds.of(connection, row, wallet, min(one.dial_ms for one in finished))
        )
    about: dict[str, Any] = {"calls": len(finished), "deployment_id": row.id}
    if extended:
        book(connection, ids, row.org_id, [], now_ms=now_ms, reserved_micros=extended, **about)
    before = called_before(connection, row.id, [one.request.contact_id for one in finished])
    policy = settings_of(row).retry_policy  # it may have changed during the calls
    zones = callbacks.zones_of(
        connection, rules, [one.request.contact_id for one in finished if _needs_zone(one, policy)]
    )
    called_back_ms = [
        callbacks.callback_ms(one.request, one.result, ended_ms=one.ended_ms, zone=zones[one.request.contact_id])
        for one in finished
    ]
    steps = [
        _step(
            policy,
            one,
            before[one.request.contact_id].times_ms,
            row.status,
            zones[one.request.contact_id],
            simulated=row.simulated,
            called_back_ms=at_ms,
        )
        for one, at_ms in zip(finished, called_back_ms, strict=True)
    ]
    parts = costs_of(connection, finished, held, now_ms=now_ms)
    costs = [part.micros for part in parts]
    bridged = [one.request.call_id for one in finished if one.result.outcome == "transferred"]
    told = transfers.told(connection, bridged)
    _END.run_many(connection, [_ended(*each) for each in zip(finished, parts, called_back_ms, strict=True)])
    call_counts.add(connection, [one.request.call_id for one in finished])
    call_transcripts.keep(connection, row.org_id, {one.request.call_id: one.result.turns for one in finished})
    changes: dict[str, dict[str, Any]] = {}
    for one, (step, state) in zip(finished, steps, strict=True):
        due_ms = step.due_ms if state in ("pending", "retry_waiting") else None
        changes[one.request.contact_id] = {
            "status": state,
            "due_at": due_ms,
            "next_at": due_ms,
            "last_outcome": one.result.outcome,
            "last_disposition": one.result.disposition,
            "status_reason": DO_NOT_CALL if state == "suppressed" else step.reason if state == step.state else None,
        }
    change_contacts(connection, row.id, changes)
    change_contacts(connection, row.id, _given_back(finished, before))
    asked = {
        one.request.person: one.request.call_id
        for one in finished
        if one.result.disposition == "do_not_call" and one.request.person.startswith("+")
    }
    do_not_call.opt_out(connection, ids, row.org_id, asked, simulated=row.simulated, now_ms=now_ms)
    charges = [
        Movement("call_charge", -cost, "call", one.request.call_id, f"{row.call_type} call")
        for one, cost in zip(finished, costs, strict=True)
        if cost
    ]
    book(connection, ids, row.org_id, charges, now_ms=now_ms, reserved_micros=-reserved - extended, **about)
    if settings_of(row).daily_budget_cap is not None:
        deployment_costs.add(
            connection, row.id, [(one.ended_ms, cost) for one, cost in zip(finished, costs, strict=True)]
        )
    outcomes = [one.result.outcome for one in finished]
    dispositions = [one.result.disposition for one in finished if one.result.disposition is not None]
    if channel_free_at is None:
        pace = {"clock_ms": max(row.clock_ms, *(one.ended_ms for one in finished))}
    else:
        pace = {"channel_free_at": json_text(list(channel_free_at))}
    connection.execute(
        update(deployments)
        .where(deployments.c.id == row.id)
        .values(
            states=counters.moved(row.states, [("in_flight", state) for _, state in steps]),
            outcomes=counters.added(row.outcomes, outcomes),
            dispositions=counters.added(row.dispositions, dispositions),
            last_outcomes=counters.moved(
                row.last_outcomes,
                [
                    (before[one.request.contact_id].last_outcome, one.result.outcome)
                    for one in finished
                    if one.is_dialled
                ],
            ),
            answered=row.answered + sum(outcome in counters.REACHED for outcome in outcomes),
            voicemails=row.voicemails + sum(outcome in counters.MACHINES for outcome in outcomes),
            spend_micros=row.spend_micros + sum(costs),
            reserved_micros=row.reserved_micros - reserved,
            in_flight=row.in_flight - len(finished),
            lease_until=until(connection, now_ms, lease_until_ms),
            **pace,
        )
    )
    if row.call_type == "inbound":
        inbound_calls.forget_requests(connection, [one.request.call_id for one in finished])
    _report(connection, ids, row, finished, now_ms, public_url, transfers_told=told)
    results = [one.result for one in finished if one.is_dialled]
    call_reviews.review_calls(connection, ids, row, results, now_ms=now_ms, public_url=public_url)
    ended = [(one.result.outcome, one.ended_ms) for one in finished if one.is_dialled]
    stops.check_calls(connection, ids, row, ended, now_ms=now_ms, public_url=public_url)
    if row.status == "cancelled":
        endings.finish_cancelled(connection, ids, row.id)


def _given_back(finished: Sequence[Finished], before: Mapping[str, CalledBefore]) -> dict[str, dict[str, Any]]:
    """The columns of contacts whose calls were not dialled: the attempt and the outcome before it count as if there had
    been no such call."""
    undialled = [one.request.contact_id for one in finished if not one.is_dialled]
    return {
        name: {"attempt_times": json_text(before[name].times_ms[:-1]), "last_outcome": before[name].last_outcome}
        for name in undialled
    }


def _needs_zone(one: Finished, policy: RetryPolicy) -> bool:
    """Whether it depends on the contact's time of day when it is called again."""
    if one.result.callback_said is not None:
        return one.request.rings_telephone
    return bool(policy.parts_of_day) and one.result.outcome == "no_answer"


def _step(
    policy: RetryPolicy,
    one: Finished,
    called_at: list[int],
    status: str,
    zone: str,
    *,
    simulated: bool,
    called_back_ms: int | None,
) -> tuple[Step, str]:
    result = one.result
    if not one.is_dialled:
        over = status in ("cancelled", "completed", "failed") or not one.request.rings_telephone
        state = "cancelled" if over else "pending" if len(called_at) == 1 else "retry_waiting"
        return Step("retry_waiting", one.ended_ms + (0 if simulated else NOT_DIALLED_AGAIN_MS)), state
    if result.hangup_cause == "unconfirmed":  # a person says whether it rang; nobody is called twice by guessing
        return Step("held"), "held"
    step = after_call(
        policy,
        outcome=result.outcome,
        disposition=result.disposition,
        duration_s=result.duration_s,
        attempt_times_ms=called_at,
        ended_ms=one.ended_ms,
        callback_ms=None if called_back_ms is None else max(called_back_ms, one.ended_ms + CALLBACK_MINUTES * MINUTE),
        zone=zone,
    )
    stopped = step.state == "retry_waiting" and status in ("cancelled", "completed", "failed")
    return step, "cancelled" if stopped else step.state


def _as_covered(finished: Sequence[Finished], held: Mapping[str, Held], funds: Funds) -> tuple[list[Finished], int]:
    """The calls as far as they are covered, and what was held back for them in addition."""
    known = [KnownCall(one.request, one.result, one.dial_ms) for one in finished]
    covered = cover(known, held, funds)
    further = sum(one.micros for one in covered.held) - sum(one.micros for one in held.values())
    return [replace(one, result=result) for one, result in zip(finished, covered.results, strict=True)], further


def _ended(one: Finished, cost: Cost, called_back_ms: int | None) -> dict[str, Any]:
    result = one.result
    latencies = [turn.latency.total_ms for turn in result.turns if turn.latency is not None]
    return {
        "b_id": one.request.call_id,
        "status": "failed" if result.outcome == "failed" else "completed",
        "outcome": result.outcome,
        "disposition": result.disposition,
        "callback_at": called_back_ms,
        "answered_by": result.answered_by,
        "answered_by_carrier": result.machine_verdicts.carrier,
        "answered_by_words": result.machine_verdicts.words,
        "carrier": result.carrier,
        "recorded": result.recorded,
        "sip_code": result.sip_status,
        "latency_p50_ms": percentile(latencies, 50),
        "latency_p95_ms": percentile(latencies, 95),
        "ended_by": result.ended_by,
        "hangup_cause": result.hangup_cause,
        "started_at": one.at(result.initiated_s),
        "ringing_at": one.at(result.ringing_s),
        "answered_at": one.at(result.answered_s),
        "ended_at": one.ended_ms,
        "duration_ms": round(result.duration_s * 1_000),
        "billed_seconds": cost.billed_seconds,
        "cost_micros": cost.micros,
        "cost_items": cost.items,
        "turn_count": len(result.turns),
        "unanswered_questions": json_text(list(result.unanswered_questions)),
        "warnings": json_text(list(result.warnings)),
        **transfers.columns_of(result.transfer, one.at(result.answered_s)),
    }


def _has_recording(result: CallResult) -> bool:
    return has_recording(
        carrier=result.carrier,
        turns=len(result.turns),
        recorded=result.recorded,
        is_answered=result.answered_s is not None,
    )


def started_event(ids: Ids, row: Row[Any], request: CallRequest, at_ms: int) -> dict[str, Any]:
    """The outbox row of call.started: the carrier accepted the call."""
    data = CallStarted(**_about(row, request), call_type=row.call_type, attempt_number=request.attempt)
    return outbox.event_row(ids, row.org_id, CALL_STARTED, data, at_ms=at_ms, simulated=row.simulated)


def _about(row: Row[Any], request: CallRequest) -> dict[str, Any]:
    """The fields that all events of a call have."""
    return {"call_id": request.call_id, "deployment_id": row.id, "agent_id": row.agent_id, "simulated": row.simulated}


def _report(
    connection: Connection,
    ids: Ids,
    row: Row[Any],
    finished: Sequence[Finished],
    now_ms: int,
    public_url: str | None,
    *,
    transfers_told: Set[str],
) -> None:
    """Adds the events and audit entries of calls that ended; no second call.transferred for `transfers_told`."""
    events: list[dict[str, Any]] = []
    is_recorded = settings_of(row).recording.enabled

    def add(type_: EventType, data: Resource, one: Finished) -> None:
        event = outbox.event_row(ids, row.org_id, type_, data, at_ms=one.ended_ms, simulated=row.simulated)
        events.append(event)

    for one in finished:
        result, request = one.result, one.request
        transfer = transfers.columns_of(result.transfer, one.at(result.answered_s))
        if not one.started_told:
            events.append(started_event(ids, row, request, one.at(result.initiated_s) or one.dial_ms))
        events += tool_events(ids, row, request, result, one.at)
        if transfer["transferred_at"] is not None and request.call_id not in transfers_told:
            events.append(transfers.event(ids, row, request, transfer))
        data = CallCompleted(
            **_about(row, request),
            call_type=row.call_type,
            attempt_number=request.attempt,
            duration_seconds=whole_seconds(round(result.duration_s * 1_000)),
            outcome=result.outcome,
            recording_url=recording_url(public_url, request.call_id)
            if is_recorded and _has_recording(result)
            else None,
            transcript_url=transcript_url(public_url, request.call_id) if result.turns else None,
            status="failed" if result.outcome == "failed" else "completed",
            disposition=result.disposition,
            hangup_cause=result.hangup_cause,
            answered_by=result.answered_by,
            transfer=transfers.shown(transfer["transfer"]),
        )
        add(CALL_COMPLETED, data, one)
        if result.hangup_cause == "unconfirmed":
            about = CallUnconfirmed(**_about(row, request), contact_id=request.contact_id)
            add(CALL_UNCONFIRMED, about, one)
    outbox.add_events(connection, events)
    entries = [
        audit_log.entry_row(ids, row.org_id, "call.ended", one.request.call_id, by=SERVICE, at_ms=now_ms)
        for one in finished
    ]
    audit_log.add_entries(connection, entries)
