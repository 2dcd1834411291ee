"""The transaction in which callers get what they get: a call for each, with its contact, its agent and its money."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row

from callwright.service.dialling.leases import mine, until
from callwright.service.dialling.limits.coverage import Funds
from callwright.service.dialling.queue import Rules
from callwright.service.inbound import callers
from callwright.service.inbound.arrival import Arrival
from callwright.service.inbound.call_details import InboundDetails, stored
from callwright.service.inbound.call_rows import (
    call_row,
    case_of,
    contact_row,
    decided,
    log_question,
    paid,
    request_of,
    write_calls,
)
from callwright.service.inbound.decision import Decision
from callwright.service.inbound.lines_now import lines_at
from callwright.service.inbound.routing.answers import RoutingAnswer
from callwright.service.inbound.waiting_lines import WaitingLines
from callwright.service.inbound.whom_to_answer import known_caller
from callwright.service.platform.clock.clock import SECOND
from callwright.service.platform.ids import Ids
from callwright.service.tables.inbound_settings import inbound_of
from callwright.service.tables.ledger import wallet_of
from callwright.service.telephony.engine import CallRequest, CallResult

Known = Callable[[CallRequest], CallResult]
"""The result of a call, which the simulated network knows in advance."""


@dataclass(frozen=True)
class Begun:
    """A caller's call, and its result, which is known in advance."""

    request: CallRequest
    result: CallResult
    at_ms: int


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
    case = case_of(connection, row)
    if not coming:
        return case.rules, []
    first_ms = coming[0].at_ms
    lines = lines_at(connection, row, first_ms)
    funds = Funds.of(connection, row, wallet, first_ms)
    begun: list[Begun] = []
    contacts: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for place, arrival in enumerate(coming, start=1):
        decision, agent, asked = decided(connection, case, arrival)
        answer = None if asked is None else asked.answer
        if decision.wants_agent:
            decision = lines.given(decision, inbound_of(row).overflow, arrival.at_ms)
        decision, held = paid(case, funds, decision)
        log_question(connection, ids, arrival, asked, decision, agent, now_ms)
        funds.add(-held)
        caller = known_caller(connection, row.org_id, arrival.from_number)
        contact_id = ids.new("row")
        request = request_of(case, arrival, decision, agent, answer, caller, contact_id)
        result = known(request)
        details = _on_line(lines, arrival, decision, answer, result)
        begun.append(Begun(request, result, arrival.at_ms))
        contacts.append(contact_row(row, request, row.contacts + place, arrival.at_ms))
        rows.append(
            call_row(case, request, caller, stored(details, request if they_last else None), held, arrival.at_ms, owner)
        )
    later = {"clock_ms": max(row.clock_ms or 0, coming[-1].at_ms)}
    later |= {"lease_until": until(connection, now_ms, lease_until_ms)}
    write_calls(connection, ids, row, contacts, rows, now_ms=now_ms, **later)
    return case.rules, begun


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
