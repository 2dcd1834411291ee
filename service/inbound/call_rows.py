"""What is written for somebody who calls in, whatever line they come on: the decision about them, their call with its
contact, its agent and its money.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from callwright.contract.inbound_routing import RoutingFallback
from callwright.list_files.name_columns import name_of
from callwright.service.accounts.principals import SERVICE
from callwright.service.dialling.limits.coverage import Funds
from callwright.service.dialling.queue import Rules
from callwright.service.inbound.arrival import Arrival
from callwright.service.inbound.decision import BUSY, Answers, Decision, decide
from callwright.service.inbound.routing import log as routing_log
from callwright.service.inbound.routing.answers import RoutingAnswer
from callwright.service.inbound.routing.asking import Asked
from callwright.service.inbound.routing.decision_words import decision_words
from callwright.service.inbound.routing.references import why_unknown
from callwright.service.inbound.whom_to_answer import KnownCaller, answering_agent
from callwright.service.platform.ids import Ids
from callwright.service.platform.json_text import json_text
from callwright.service.platform.search_words import word_column
from callwright.service.rules.prices.price_list import Price, price_of, stored_price
from callwright.service.rules.recording_announcement import announces
from callwright.service.tables import audit_log, calls_by_name, counters
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.inbound_settings import inbound_of
from callwright.service.tables.ledger import book
from callwright.service.tables.schema import deployment_contacts, deployments, phone_numbers
from callwright.service.telephony.engine import AgentSnapshot, CallRequest, VoicemailPolicy

WITHHELD = "withheld"
"""What stands for the number of a caller who shows none."""
NO_CREDITS = "insufficient_credits"
_N = phone_numbers.c
_NUMBER = select(phone_numbers).where(_N.id == bindparam("id"))


@dataclass(frozen=True)
class Case:
    """What belongs to a deployment and its number while its callers are looked at."""

    rules: Rules
    number: Row[Any]
    answers: Answers
    price: Price


def case_of(connection: Connection, row: Row[Any]) -> Case:
    """What belongs to a deployment now."""
    settings = inbound_of(row)
    number: Row[Any] = connection.execute(_NUMBER, {"id": settings.phone_number_id}).one()
    fallback = None if number.routing_fallback is None else RoutingFallback.model_validate_json(number.routing_fallback)
    answers = Answers(row.status == "active", settings.business_hours, settings.after_hours, fallback)
    agent = answering_agent(connection, row, None)
    rules = Rules.of(connection, row, agent)
    return Case(rules, number, answers, price_of(number.provider, number.number))


def decided(connection: Connection, case: Case, arrival: Arrival) -> tuple[Decision, AgentSnapshot, Asked | None]:
    """The decision but for the lines, the agent, and what came of the webhook: no answer that cannot be used."""
    row, asked, agent = case.rules.row, arrival.asked, case.rules.agent
    if asked is not None and asked.answer is not None:
        why = why_unknown(connection, row.org_id, asked.answer)
        asked = asked if why is None else asked.refused(why)
    answer = None if asked is None else asked.answer
    if answer is not None and answer.action == "answer":
        agent = answering_agent(connection, row, answer)
    return decide(case.answers, answer, at_ms=arrival.at_ms), agent, asked


def paid(case: Case, funds: Funds, decision: Decision) -> tuple[Decision, int]:
    """The decision as the money allows it, and what is held back for the call: nothing for who is refused."""
    if decision.answering.action == "reject":
        return decision, 0
    if funds.lacking(case.price.held_back) is not None:
        return Decision(BUSY, decision.routed_by, NO_CREDITS), 0
    return decision, case.price.held_back


def log_question(
    connection: Connection,
    ids: Ids,
    arrival: Arrival,
    asked: Asked | None,
    decision: Decision,
    agent: AgentSnapshot,
    now_ms: int,
) -> None:
    """Writes what the webhook was asked about a caller, what it said, and what came of it; nothing if it was not."""
    if asked is not None and arrival.question is not None:
        words = decision_words(decision, agent.id, asked.answer)
        routing_log.write(connection, ids, arrival.question, asked, now_ms=now_ms, decision=words)


def request_of(
    case: Case,
    arrival: Arrival,
    decision: Decision,
    agent: AgentSnapshot,
    answer: RoutingAnswer | None,
    caller: KnownCaller,
    contact_id: str,
) -> CallRequest:
    """The call of a caller, as it is answered."""
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
        voicemail=VoicemailPolicy(detection=False),
        answering=decision.answering,
    )


def contact_row(row: Row[Any], request: CallRequest, position: int, at_ms: int) -> dict[str, Any]:
    """The row of the caller among the contacts of the deployment."""
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


def call_row(
    case: Case,
    request: CallRequest,
    caller: KnownCaller,
    inbound: str,
    held: int,
    at_ms: int,
    owner: str | None,
) -> dict[str, Any]:
    """The row of a call that begins, for which so much is held back."""
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


def write_calls(
    connection: Connection,
    ids: Ids,
    row: Row[Any],
    contacts: Sequence[dict[str, Any]],
    rows: Sequence[dict[str, Any]],
    *,
    now_ms: int,
    **more: Any,
) -> None:
    """Writes calls that begin, with their contacts, and holds back their money. `more` is changed in the deployment."""
    connection.execute(insert(deployment_contacts), list(contacts))
    calls_by_name.put(connection, rows)
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
            **more,
        )
    )
    entries = [
        audit_log.entry_row(ids, row.org_id, "call.received", one["id"], by=SERVICE, at_ms=now_ms) for one in rows
    ]
    audit_log.add_entries(connection, entries)
