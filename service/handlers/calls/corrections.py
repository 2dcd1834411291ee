"""Correcting the disposition of a call: its counts, its campaign and its contact follow in one transaction."""

import orjson
from sqlalchemy import update

from callwright.contract.calls import corrections as contract
from callwright.contract.calls.calls import Call
from callwright.contract.problems import INVALID_STATE_TRANSITION
from callwright.service.dialling.eligibility import do_not_call
from callwright.service.handlers.calls.calls import find, get_resource
from callwright.service.handlers.deployments.rows import find as find_deployment
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.platform.json_text import json_text
from callwright.service.platform.number_patterns import country_of
from callwright.service.platform.phone import holds_number
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.tables import call_counts, counters
from callwright.service.tables.ledger import wallet_of
from callwright.service.tables.schema import calls, deployment_contacts, deployments

_C, _D, _K = calls.c, deployments.c, deployment_contacts.c
_OPTED_OUT = "do_not_call"


def _check_note(note: str, person: str) -> None:
    """Raises `Refusal` for a note with a telephone number: viewers read notes, and whole numbers are not for them."""
    region = country_of(person[1:]) if person.startswith("+") else None
    if holds_number(note, region):
        raise invalid("note", "holds a telephone number; leave it out, since everybody in the organization reads notes")


@handles(contract.correct_disposition)
def correct_disposition(asked: contract.CorrectDisposition, context: RequestContext) -> Call:
    """The call with the person's disposition. With `do_not_call` the person's number is listed for good.

    When the contact is called again, if at all, stays as it was planned; a listed number is not called again.

    Raises:
        Refusal: invalid_state_transition for a call that goes on, that nobody answered, or that is unclear.
    """
    connection = context.connection
    place = find(context, asked.call_uuid)
    deployment = None
    if place.deployment_id is not None:
        deployment = find_deployment(context, place.deployment_id)  # before the wallet, as when a call ends
    wallet_of(connection, context.org_id, lock=True)  # whoever holds it changes the counts of calls alone
    call = find(context, asked.call_uuid)  # another correction may have come before
    _check(call.status, call.ended_at, call.answered_at, call.hangup_cause, call.resolved)
    person = call.from_number if call.call_type == "inbound" else call.to_number
    _check_note(asked.note, person)
    agents_own = orjson.loads(call.corrected)["agent_disposition"] if call.corrected else call.disposition
    said = {
        "agent_disposition": agents_own,
        "note": asked.note,
        "at_ms": context.now_ms,
        "actor": context.principal.actor,
        "user_id": context.principal.user_id,
    }
    connection.execute(update(calls).where(_C.id == call.id).values(corrected=json_text(said)))
    if call.disposition != asked.disposition:
        call_counts.change_disposition(connection, call.id, asked.disposition)
        if deployment is not None:
            counted = counters.moved(deployment.dispositions, [(call.disposition, asked.disposition)])
            connection.execute(update(deployments).where(_D.id == deployment.id).values(dispositions=counted))
            last_of = (_K.deployment_id == deployment.id, _K.id == call.contact_id, _K.last_call_id == call.id)
            connection.execute(update(deployment_contacts).where(*last_of).values(last_disposition=asked.disposition))
    if asked.disposition == _OPTED_OUT and person.startswith("+"):
        do_not_call.opt_out(
            connection,
            context.ids,
            context.org_id,
            {person: call.id},
            simulated=call.simulated,
            now_ms=context.now_ms,
            by=context.principal,
        )
    return get_resource(context, call.id)


def _check(status: str, ended_ms: int | None, answered_ms: int | None, cause: str | None, resolved: str | None) -> None:
    if ended_ms is None:
        message = f"the call is {status}: its disposition can be corrected once it has ended"
    elif cause == "unconfirmed" and resolved is None:
        message = "nobody knows whether this telephone rang: say so first with resolve_call"
    elif answered_ms is None:
        message = "nobody answered this call, so there was no conversation whose disposition could be wrong"
    else:
        return
    raise Refusal(INVALID_STATE_TRANSITION, message, details={"current_status": status, "allowed": []})
