"""Deciding about calls of which nobody knows whether they rang."""

import json

from sqlalchemy import bindparam, select, update

from callwright.contract.calls import unconfirmed as contract
from callwright.contract.calls.calls import Call
from callwright.contract.problems import INVALID_STATE_TRANSITION
from callwright.service.dialling.endings import complete_resolved
from callwright.service.handlers.calls.calls import find, get_resource
from callwright.service.handlers.deployments.rows import find as find_deployment
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.platform.json_text import json_text
from callwright.service.platform.refusals import Refusal
from callwright.service.tables import counters
from callwright.service.tables.schema import calls, deployment_contacts, deployments

_K = deployment_contacts.c
_HELD = select(deployment_contacts).where(_K.deployment_id == bindparam("deployment"), _K.id == bindparam("contact"))
_OVER = ("completed", "cancelled", "failed")


@handles(contract.resolve_call)
def resolve_call(asked: contract.ResolveCall, context: RequestContext) -> Call:
    """Releases the contact of an unconfirmed call: as called, or to be called as before, with the attempt given back.

    A campaign that waited for its held contacts alone is completed with the last of them.
    """
    call = find(context, asked.call_uuid)
    row = find_deployment(context, call.deployment_id or "")
    given = {"deployment": row.id, "contact": call.contact_id}
    contact = context.connection.execute(_HELD, given).one_or_none()
    if contact is None or contact.status != "held" or contact.last_call_id != call.id:
        message = "the call is not waiting for a decision: only a call with the cause unconfirmed is, until it has one"
        raise Refusal(INVALID_STATE_TRANSITION, message, details={"current_status": call.status, "allowed": []})
    times_ms: list[int] = json.loads(contact.attempt_times)
    values: dict[str, object] = {"status": "exhausted"}
    if not asked.placed and row.status in _OVER:
        values = {"status": "cancelled", "attempt_times": json_text(times_ms[:-1])}
    elif not asked.placed:
        state = "pending" if len(times_ms) == 1 else "retry_waiting"
        due_ms = max(row.clock_ms or 0, context.now_ms) if not row.simulated else row.clock_ms
        values = {"status": state, "attempt_times": json_text(times_ms[:-1]), "due_at": due_ms, "next_at": due_ms}
    context.connection.execute(
        update(deployment_contacts).where(_K.deployment_id == row.id, _K.id == contact.id).values(**values)
    )
    states = counters.moved(row.states, [("held", str(values["status"]))])
    context.connection.execute(update(deployments).where(deployments.c.id == row.id).values(states=states))
    said = {
        "placed": asked.placed,
        "at_ms": context.now_ms,
        "actor": context.principal.actor,
        "user_id": context.principal.user_id,
    }
    context.connection.execute(update(calls).where(calls.c.id == call.id).values(resolved=json_text(said)))
    complete_resolved(context.connection, context.ids, row.id, now_ms=context.now_ms)
    return get_resource(context, call.id)
