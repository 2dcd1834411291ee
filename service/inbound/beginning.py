"""The transaction in which callers get what they get: a call for each, with its contact, its agent and its money."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, insert, or_, select, update

from callwright.contract.inbound_routing import RoutingFallback
from callwright.list_files.name_columns import name_of
from callwright.service.accounts.principals import SERVICE
from callwright.service.dialling.leases import mine, until
from callwright.service.dialling.limits.coverage import Funds
from callwright.service.dialling.queue import Rules
from callwright.service.inbound import callers
from callwright.service.inbound.arrival import Arrival
from callwright.service.inbound.call_details import InboundDetails, stored
from callwright.service.inbound.decision import BUSY, Answers, Decision, decide
from callwright.service.inbound.routing import log as routing_log
from callwright.service.inbound.routing.answers import RoutingAnswer
from callwright.service.inbound.routing.asking import Asked
from callwright.service.inbound.routing.decision_words import decision_words
from callwright.service.inbound.routing.references import why_unknown
from callwright.service.inbound.waiting_lines import WaitingLines
from callwright.service.inbound.whom_to_answer import KnownCaller, answering_agent, known_caller
from callwright.service.platform.clock.clock import SECOND
from callwright.service.platform.ids import Ids
from callwright.service.platform.json_text import json_text
from callwright.service.platform.search_words import word_column
from callwright.service.rules.prices.price_list import Price, price_of, stored_price
from callwright.service.rules.recording_announcement import announces
from callwright.service.tables import audit_log, counters
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.inbound_settings import inbound_of
from callwright.service.tables.ledger import book, wallet_of
from callwright.service.tables.schema import calls, deployment_contacts, deployments, phone_numbers
from callwright.service.telephony.engine import AgentSnapshot, CallRequest, CallResult

WITHHELD = "withheld"
"""What stands for the number of a caller who shows none."""
NO_CREDITS = "insufficient_credits"
_C, _N = calls.c, phone_numbers.c
_NUMBER = select(phone_numbers).where(_N.id == bindparam("id"))
_ON_LINES: Select[*tuple[Any, ...]] = select(_C.inbound, _C.ended_at).where(
    _C.deployment_id == bindparam("id"), or_(_C.ended_at.is_(None), _C.ended_at > bindparam("at"))
)
Known = Callable[[CallRequest], CallResult]
"""The result of a call, which the simulated network knows in advance."""


@dataclass(frozen=True)
class Begun:
    """A caller's call, and its result, which is known in advance."""

    request: CallRequest
    result: CallResult
    at_ms: int


@dataclass(frozen=True)
class _Case:
    """What belongs to a deployment and its number while its callers are looked at."""

    rules: Rules
    number: Row[Any]
    answers: Answers
    price: Price


def begin(
    connection: Connection,
    ids: Ids,
    deployment_id: str,
    arrivals: Sequence[Arrival],
    known: Known,
    *,
    owner: str,
    now_ms: int,
    lease_until_ms: int,
    they_last: bool,
) -> tuple[Rules, list[Begun]]:
    """Begins the calls of simulated callers, in the order of their time. Callers who have gone meanwhile get none.

    Unless `they_last`, the same transaction records their ends.

    Raises:
        LeaseLost: another process drives the deployment.
    """
    row: Row[Any] = mine(connection, deployment_id, owner)
    wallet = wallet_of(connection, row.org_id, lock=True)
    still = callers.take(connection, [one.call_id for one in arrivals])
    coming = sorted((one for one in arrivals if one.call_id in still), key=lambda one: (one.at_ms, one.call_id))
    case = _case_of(connection, row)
    if not coming:
        return case.rules, []
    first_ms = coming[0].at_ms
    lines = _lines_of(connection, row, first_ms)
    funds = Funds.of(connection, row, wallet, first_ms)
    begun: list[Begun] = []
    contacts: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for place, arrival in enumerate(coming, start=1):
        decision, agent, asked = _decided(connection, case, arrival)
        answer = None if asked is None else asked.answer
        if decision.wants_agent:
            decision = lines.given(decision, inbound_of(row).overflow, arrival.at_ms)
        if decision.answering.action != "reject" and funds.lacking(case.price.held_back) is not None:
            decision = Decision(BUSY, decision.routed_by, NO_CREDITS)
        if asked is not None and arrival.question is not None:
            words = decision_words(decision, agent.id, answer)
            routing_log.write(connection, ids, arrival.question, asked, now_ms=now_ms, decision=words)
        held = 0 if decision.answering.action == "reject" else case.price.held_back
        funds.add(-held)
        caller = known_caller(connection, row.org_id, arrival.from_number)
        contact_id = ids.new("row")
        request = _request(case, arrival, decision, agent, answer, caller, contact_id)
        result = known(request)
        details = _on_line(lines, arrival, decision, answer, result)
        begun.append(Begun(request, result, arrival.at_ms))
        contacts.append(_contact(row, request, row.contacts + place, arrival.at_ms))
        rows.append(
            _call(case, request, caller, stored(details, request if they_last else None), held, arrival.at_ms, owner)
        )
    connection.execute(insert(deployment_contacts), contacts)
    connection.execute(insert(calls), rows)
    reserved = sum(one["reserved_micros"] for one in rows)
    count = len(rows)
    book(connection, ids, row.org_id, [], now_ms=now_ms, reserved_micros=reserved, calls=count, deployment_id=row.id)
    connection.execute(
        update(deployments)
        .where(deployments.c.id == row.id)
        .values(
            contacts=row.contacts + count,
            attempts=row.attempts + count,
            in_flight=row.in_flight + count,
            states=counters.added(row.states, ["in_flight"] * count),
            reserved_micros=row.reserved_micros + reserved,
            clock_ms=max(row.clock_ms or 0, coming[-1].at_ms),
            lease_until=until(connection, now_ms, lease_until_ms),
        )
    )
    entries = [
        audit_log.entry_row(ids, row.org_id, "call.received", one.request.call_id, by=SERVICE, at_ms=now_ms)
        for one in begun
    ]
    audit_log.add_entries(connection, entries)
    return case.rules, begun


def _case_of(connection: Connection, row: Row[Any]) -> _Case:
    settings = inbound_of(row)
    number: Row[Any] = connection.execute(_NUMBER, {"id": settings.phone_number_id}).one()
    fallback = None if number.routing_fallback is None else RoutingFallback.model_validate_json(number.routing_fallback)
    answers = Answers(row.status == "active", settings.business_hours, settings.after_hours, fallback)
    agent = answering_agent(connection, row, None)
    rules = Rules.of(connection, row, agent)
    return _Case(rules, number, answers, price_of(number.provider, number.number))


def _lines_of(connection: Connection, row: Row[Any], at_ms: int) -> WaitingLines:
    """The lines as they are at a moment: taken by calls under way, and by those whose end is known and yet to come."""
    taken: list[int] = []
    waiting: list[int] = []
    for inbound, ended_ms in connection.execute(_ON_LINES, {"id": row.id, "at": at_ms}):
        details = InboundDetails.read(inbound)
        if details.line_until_ms is not None:
            taken.append(details.line_until_ms if ended_ms is None else min(details.line_until_ms, ended_ms))
        if details.waits_until_ms is not None:
            waiting.append(details.waits_until_ms if ended_ms is None else min(details.waits_until_ms, ended_ms))
    return WaitingLines(row.max_concurrency, taken, waiting)


def _decided(connection: Connection, case: _Case, arrival: Arrival) -> tuple[Decision, AgentSnapshot, Asked | None]:
    """The decision but for the lines, the agent, and what came of the webhook: no answer that cannot be used."""
    row, asked, agent = case.rules.row, arrival.asked, case.rules.agent
    if asked is not None and asked.answer is not None:
        why = why_unknown(connection, row.org_id, asked.answer)
        asked = asked if why is None else asked.refused(why)
    answer = None if asked is None else asked.answer
    if answer is not None and answer.action == "answer":
        agent = answering_agent(connection, row, answer)
    return decide(case.answers, answer, at_ms=arrival.at_ms), agent, asked


def _request(
    case: _Case,
    arrival: Arrival,
    decision: Decision,
    agent: AgentSnapshot,
    answer: RoutingAnswer | None,
    caller: KnownCaller,
    contact_id: str,
) -> CallRequest:
    row, settings = case.rules.row, settings_of(case.rules.row)
    cells = caller.cells or {}
    number: str = arrival.from_number or case.number.number
    hours = case.rules.campaign_hours.of_person(number, caller.timezone, json_text(cells))
    needs_announcement = any(rule.announcement for rule in hours.in_force(arrival.at_ms).recording)
    return CallRequest(
        call_id=arrival.call_id,
        org_id=row.org_id,
        deployment_id=row.id,
        contact_id=contact_id,
        attempt=1,
        to=case.number.number,
        from_=arrival.from_number,
        agent=agent,
        variables={**cells, **(answer.variables if answer is not None else {})},
        steering=arrival.steering,
        seed=f"{row.seed} {arrival.call_id}",  # who calls again does not say the same again
        ring_timeout_s=settings.ring_timeout_seconds,
        max_duration_s=settings.max_call_duration_seconds,
        ai_disclosure=settings.compliance.ai_disclosure,
        recorded=settings.recording.enabled,
        recording_announcement=announces(settings.recording, needs_announcement),
        answering=decision.answering,
    )


def _on_line(
    lines: WaitingLines, arrival: Arrival, decision: Decision, answer: RoutingAnswer | None, result: CallResult
) -> InboundDetails:
    """How the call stands on the lines: a caller who gives up while waiting never takes one."""
    ended_ms = arrival.at_ms + round(result.ended_s * SECOND)
    wait = decision.answering.wait
    line_ms = waits_ms = None
    if wait is not None:
        served_ms = arrival.at_ms + round((wait.waits_s or 0.0) * SECOND)
        waits_ms = min(served_ms, ended_ms)
        lines.wait(waits_ms)
        line_ms = ended_ms if ended_ms > served_ms else None
    elif decision.answering.action == "agent":
        line_ms = ended_ms
    if line_ms is not None:
        lines.take(line_ms)
    waited_s = 0.0 if waits_ms is None else (waits_ms - arrival.at_ms) / SECOND
    metadata: Mapping[str, str] = answer.metadata if answer is not None else {}
    return InboundDetails(
        routed_by=decision.routed_by,
        action=decision.answering.action,
        reason=decision.reason,
        waited_s=waited_s,
        metadata=metadata,
        line_until_ms=line_ms,
        waits_until_ms=waits_ms,
    )


def _contact(row: Row[Any], request: CallRequest, position: int, at_ms: int) -> dict[str, Any]:
    return {
        "deployment_id": row.id,
        "id": request.contact_id,
        "org_id": row.org_id,
        "position": position,
        "phone": request.from_ or WITHHELD,
        "status": "in_flight",
        "attempts": 1,
        "attempt_times": json.dumps([at_ms]),
        "last_call_id": request.call_id,
    }


def _call(
    case: _Case,
    request: CallRequest,
    caller: KnownCaller,
    inbound: str,
    held: int,
    at_ms: int,
    owner: str,
) -> dict[str, Any]:
    row, name = case.rules.row, name_of(request.variables)
    return {
        "id": request.call_id,
        "org_id": row.org_id,
        "call_type": "inbound",
        "simulated": row.simulated,
        "deployment_id": row.id,
        "agent_id": request.agent.id,
        "agent_version": request.agent.version,
        "audience_id": caller.audience_id,
        "contact_id": request.contact_id,
        "contact_name": name,
        "name_words": word_column(name),
        "external_id": caller.external_id,
        "phone_number_id": case.number.id,
        "attempt_number": 1,
        "from_number": request.from_ or WITHHELD,
        "to_number": request.to,
        "status": "ringing",
        "created_at": at_ms,
        "reserved_micros": held,
        "price": stored_price(case.price),
        "language": request.agent.language,
        "voice_id": request.agent.voice_id,
        "variables": json_text(request.variables),
        "driver": owner,
        "inbound": inbound,
    }
