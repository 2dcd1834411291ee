"""Calls that were claimed, and whose driver died before it dialled them: which of them are still made.

What was decided since the claim holds for them too, for they would ring after it.
"""

from collections.abc import Sequence

from sqlalchemy import BigInteger, Connection, literal, or_, select

from callwright.service.dialling.eligibility import do_not_call
from callwright.service.dialling.finishing import Finished
from callwright.service.dialling.queue import FIND, Rules, contacts_by_id
from callwright.service.tables.schema import calls
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.legs.leg_results import not_dialled

_C = calls.c


def no_longer_made(
    connection: Connection, rules: Rules, requests: Sequence[CallRequest], now_ms: int, *, dial_ms: int | None = None
) -> set[str]:
    """The ids of those calls of a deployment whose numbers are on the do-not-call list by now; all of them if the
    deployment was paused or cancelled.

    `now_ms` is the time of the service. With `dial_ms` they would be dialled at this moment of the deployment's clock
    and not when they were claimed: then also those whose hours do not allow it.
    """
    row = rules.row
    if row.status != "active":
        return {request.call_id for request in requests}
    requests = [request for request in requests if request.rings_telephone]
    late: set[str] = set()
    if dial_ms is not None:
        contacts = contacts_by_id(connection, row.id, [request.contact_id for request in requests])
        late = {
            request.call_id
            for request in requests
            if request.contact_id not in contacts
            or rules.open_hours(contacts[request.contact_id]).first(dial_ms) != dial_ms
        }
    listed = do_not_call.listed_conditions(
        _C.to_number, literal(row.org_id), simulated=row.simulated, now_ms=literal(now_ms, BigInteger)
    )
    own = (_C.deployment_id == row.id, _C.id.in_([request.call_id for request in requests]))
    return late | set(connection.execute(select(_C.id).where(*own, or_(*listed))).scalars())


def undialled(request: CallRequest, dial_ms: int) -> Finished:
    """The end of such a call: it failed at the service, costs nothing, has rung nowhere and uses up no attempt."""
    return Finished(request, not_dialled(request), dial_ms, started_told=True)


def may_place(connection: Connection, request: CallRequest, now_ms: int) -> bool:
    """Whether a claimed call may still be placed at this moment, the time of the service.

    A simulated campaign has a clock of its own: its hours were looked at when the call was claimed. Who calls in is
    answered as it was decided.
    """
    if request.answering is not None:
        return True
    row = connection.execute(FIND, {"id": request.deployment_id}).one_or_none()
    if row is None:
        return False
    dial_ms = None if row.simulated else now_ms
    return not no_longer_made(connection, Rules.of(connection, row), [request], now_ms, dial_ms=dial_ms)
