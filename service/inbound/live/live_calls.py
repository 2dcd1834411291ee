"""The transaction in which somebody who calls on a real line gets what they get: their call and its leg, or a refusal.

The call is recorded by the driver of the deployment, like every call: that of a caller who is refused has a leg that
has ended. A carrier may tell of one caller twice; its own id of the call says so, and there is one call.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, select

from callwright.service.dialling.limits.coverage import Funds
from callwright.service.dialling.queue import FIND
from callwright.service.inbound.arrival import Arrival
from callwright.service.inbound.browser_callers import BrowserCaller
from callwright.service.inbound.call_details import InboundDetails, request_in, stored
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
from callwright.service.inbound.decision import BUSY, Decision
from callwright.service.inbound.lines_now import lines_at
from callwright.service.inbound.whom_to_answer import known_caller
from callwright.service.platform.ids import Ids
from callwright.service.rules.cost_items import FREE
from callwright.service.tables.inbound_settings import inbound_of
from callwright.service.tables.ledger import wallet_of
from callwright.service.tables.schema import calls, legs
from callwright.service.telephony.answering import Answering
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.legs import leg_rows
from callwright.service.telephony.refused_callers import refused_call

_C, _L = calls.c, legs.c
_AGAIN: Select[*tuple[Any, ...]] = (
    select(_C.id, _C.inbound)
    .join(legs, _L.call_id == _C.id)
    .where(_L.carrier == bindparam("carrier"), _L.provider_call_id == bindparam("provider_call_id"))
    .where(_C.deployment_id == bindparam("id"), _C.ended_at.is_(None))
)


@dataclass(frozen=True)
class LiveCaller:
    """Somebody who calls one of our numbers on the line of a carrier. Both numbers are in E.164; `from_` is empty if it
    is withheld. `token_hash` is that of a token which opens the leg to the carrier."""

    carrier: str
    to: str
    from_: str = field(repr=False)
    provider_call_id: str | None = None
    token_hash: str | None = None
    has_line: bool = True
    """Whether the process to which they come has a line for them. Without one they get the busy tone."""
    link: BrowserCaller | None = None
    """The link by which somebody calls from a browser: it says which number is called, and the id of the call."""

    @property
    def pays(self) -> bool:
        """Whether the call costs money: no line of a carrier is used from a browser."""
        return self.link is None


@dataclass(frozen=True)
class Routed:
    """What a caller gets. There is no call of somebody who has called a number that nobody answers."""

    call_id: str | None
    answering: Answering

    @property
    def is_refused(self) -> bool:
        """Whether nobody answers."""
        return self.answering.action == "reject"


NO_LINE = "no_line"
"""Why a caller is refused to whose process all lines are taken."""
NOBODY = Routed(None, BUSY)
"""For a number that nobody answers."""


def known_already(connection: Connection, caller: LiveCaller, deployment_id: str) -> Routed | None:
    """What a caller has got of whom the carrier tells again; None for a new one."""
    if caller.provider_call_id is None:
        return None
    given = {"carrier": caller.carrier, "provider_call_id": caller.provider_call_id, "id": deployment_id}
    found = connection.execute(_AGAIN, given).first()
    if found is None:
        return None
    answering = request_in(found.inbound).answering
    return None if answering is None else Routed(found.id, answering)


def begin_live(
    connection: Connection, ids: Ids, deployment_id: str, caller: LiveCaller, arrival: Arrival, *, now_ms: int
) -> Routed:
    """Begins the call of a caller, and holds back its money."""
    row: Row[Any] = connection.execute(FIND.with_for_update(), {"id": deployment_id}).one()
    if (again := known_already(connection, caller, deployment_id)) is not None:
        return again
    wallet = wallet_of(connection, row.org_id, lock=True)
    case = case_of(connection, row)
    case = case if caller.pays else replace(case, price=FREE)
    decision, agent, asked = decided(connection, case, arrival)
    if not caller.has_line:
        decision = Decision(BUSY, decision.routed_by, NO_LINE)
    answer = None if asked is None else asked.answer
    if decision.wants_agent:
        decision = _given(connection, row, decision, arrival.at_ms)
    decision, held = paid(case, Funds.of(connection, row, wallet, arrival.at_ms), decision)
    log_question(connection, ids, arrival, asked, decision, agent, now_ms)
    known = known_caller(connection, row.org_id, arrival.from_number)
    request = request_of(case, arrival, decision, agent, answer, known, ids.new("row"))
    details = InboundDetails(
        routed_by=decision.routed_by,
        action=decision.answering.action,
        reason=decision.reason,
        metadata={} if answer is None else answer.metadata,
    )
    contact = contact_row(row, request, row.contacts + 1, arrival.at_ms)
    call = call_row(case, request, known, stored(details, request), held, arrival.at_ms, None)
    clock_ms = max(row.clock_ms or 0, arrival.at_ms)
    write_calls(connection, ids, row, [contact], [call], now_ms=now_ms, clock_ms=clock_ms)
    _add_leg(connection, caller, request, decision, now_ms)
    return Routed(request.call_id, decision.answering)


def _given(connection: Connection, row: Row[Any], decision: Decision, at_ms: int) -> Decision:
    """The decision as the lines of the deployment and of the organization allow it. Who waits comes first."""
    lines = lines_at(connection, row, at_ms, begun_by_ms=at_ms)
    decision = lines.given(decision, inbound_of(row).overflow, at_ms)
    wait = decision.answering.wait
    if wait is None:
        return decision
    return replace(decision, answering=replace(decision.answering, wait=replace(wait, waits_s=None)))


def _add_leg(connection: Connection, caller: LiveCaller, request: CallRequest, decision: Decision, now_ms: int) -> None:
    opened = {"token_hash": caller.token_hash, "provider_call_id": caller.provider_call_id}
    leg_rows.add(connection, caller.carrier, request, now_ms, **opened)
    if decision.answering.action == "reject":
        leg_rows.end(connection, refused_call(request, decision.answering.reject_reason), now_ms)
