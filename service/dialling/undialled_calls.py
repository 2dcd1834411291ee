"""Calls that were claimed, and whose driver died before it dialled them: which of them are still made.

What was decided since the claim holds for them too, for they would ring after it.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BigInteger, Connection, Row, literal, or_, select

from callwright.service.dialling.eligibility import do_not_call
from callwright.service.tables.schema import calls
from callwright.service.telephony.engine import CallRequest, CallResult

_C = calls.c


def no_longer_made(connection: Connection, row: Row[Any], requests: Sequence[CallRequest], now_ms: int) -> set[str]:
    """The ids of those calls of a deployment whose numbers are on the do-not-call list by now; all of them if the
    deployment was paused or cancelled.

    `now_ms` is the time of the service.
    """
    if row.status != "active":
        return {request.call_id for request in requests}
    listed = do_not_call.listed_conditions(
        _C.to_number, literal(row.org_id), simulated=row.simulated, now_ms=literal(now_ms, BigInteger)
    )
    own = (_C.deployment_id == row.id, _C.id.in_([request.call_id for request in requests]))
    return set(connection.execute(select(_C.id).where(*own, or_(*listed))).scalars())


def not_made(request: CallRequest) -> CallResult:
    """The result of such a call: it failed at the service, costs nothing and has rung nowhere."""
    return CallResult(call_id=request.call_id, outcome="failed", hangup_cause="platform_error", ended_by="platform")
