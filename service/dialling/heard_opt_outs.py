"""Opt-outs that an engine's own disposition misses: what the contact said and pressed on a call decides."""

from dataclasses import replace

from sqlalchemy import Connection

from callwright.service.dialling.eligibility import do_not_call
from callwright.service.dialling.queue import FIND
from callwright.service.platform.ids import Ids
from callwright.service.rules.opt_out_words import is_opt_out, is_opt_out_key
from callwright.service.telephony.engine import CallRequest, CallResult

_MACHINES = ("machine_end_beep", "machine_end_silence")


def heard(result: CallResult) -> CallResult:
    """The result with the disposition `do_not_call` if the contact asked, by words or key, not to be called again.

    What a mailbox says is no wish of a person.
    """
    if result.disposition == "do_not_call" or result.answered_by in _MACHINES:
        return result
    asks = is_opt_out_key(result.keys) or any(
        turn.speaker == "contact" and is_opt_out(turn.text, turn.language) for turn in result.turns
    )
    if not asks:
        return result
    return replace(result, disposition="do_not_call", callback_after_s=None, callback_said=None)


def list_at_once(ids: Ids, connection: Connection, request: CallRequest, so_far: CallResult, now_ms: int) -> None:
    """Lists the number of a contact who has asked, in a call that goes on, not to be called again.

    The end of the call lists it too, but the process that carries the call may not live to see it.
    """
    if not request.person.startswith("+") or heard(so_far).disposition != "do_not_call":
        return
    row = connection.execute(FIND, {"id": request.deployment_id}).one_or_none()
    if row is not None:
        numbers = {request.person: request.call_id}
        do_not_call.opt_out(connection, ids, request.org_id, numbers, simulated=row.simulated, now_ms=now_ms)
