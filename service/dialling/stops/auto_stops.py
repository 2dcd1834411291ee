"""What pauses a campaign by itself when calls end: many that failed, many that were abandoned.

It happens in the transaction that finishes the calls, so that no further call is claimed between the finding and the
pause. Nothing is read unless one of the calls failed or was abandoned.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, func, literal_column, select

from callwright.service.dialling import endings
from callwright.service.dialling.queue import FIND, run_since
from callwright.service.dialling.stops.reviews import review_finding
from callwright.service.platform.clock.clock import SECOND
from callwright.service.platform.ids import Ids
from callwright.service.rules.circuit_breaker import FAILED, MOST_JUDGED, EndedCall, opens
from callwright.service.rules.review_thresholds import (
    ABANDONED,
    ABANDONED_WITHIN_MS,
    MOST_ANSWERED_JUDGED,
    Finding,
    abandoned_calls,
)
from callwright.service.tables import compliance_reviews
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.schema import calls

CIRCUIT_BREAKER = "circuit_breaker"
"""The status reason of a campaign that was paused because its calls failed."""
ABANDON_RATE = "abandon_rate"
"""The status reason of a campaign that was paused because people heard nobody, and the category of its review."""
_MESSAGE = (
    "{found} of {calls} answered calls of the last 24 hours ({percent} %) were abandoned: the person heard no agent "
    "within 2 seconds. Look at what keeps the agent from speaking before people are called again."
)
_C = calls.c
_TAKEN: ColumnElement[bool] = literal_column("calls.outcome IN ('answered', 'transferred', 'abandoned')")
"""A literal, so that both databases use the partial index."""
_OF_RUN = (_C.deployment_id == bindparam("id"), _C.ended_at > bindparam("since"), _C.created_at >= bindparam("begun"))
ENDED: Select[*tuple[Any, ...]] = (
    select(_C.ended_at, _C.outcome).where(*_OF_RUN).order_by(_C.ended_at.desc()).limit(bindparam("most"))
)
"""The calls of a run that ended last."""
_NEWEST_TAKEN = (
    select(_C.outcome).where(*_OF_RUN, _TAKEN).order_by(_C.ended_at.desc()).limit(MOST_ANSWERED_JUDGED).subquery()
)
COUNTED = select(_NEWEST_TAKEN.c.outcome, func.count()).group_by(_NEWEST_TAKEN.c.outcome)
"""The calls that somebody answered, by outcome."""


def check_calls(
    connection: Connection,
    ids: Ids,
    before: Row[Any],
    ended: Sequence[tuple[str, int]],
    *,
    now_ms: int,
    public_url: str | None,
) -> None:
    """Pauses the campaign if these calls, which are stored already, give a reason. `ended` has outcome and end of each.

    The caller holds the lock of the deployment, whose row was `before`.
    """
    if before.status not in ("active", "paused"):
        return
    abandoned = [ended_ms for outcome, ended_ms in ended if outcome == ABANDONED]
    finding = _abandoned(connection, before, max(abandoned)) if abandoned else None
    if finding is not None:
        _pause(connection, ids, before.id, ABANDON_RATE, now_ms)
        review_finding(connection, ids, before, finding, _MESSAGE, now_ms=now_ms, public_url=public_url)
    failed = [ended_ms for outcome, ended_ms in ended if outcome == FAILED]
    if failed and _breaks(connection, before, len(ended), min(failed), max(failed)):
        _pause(connection, ids, before.id, CIRCUIT_BREAKER, now_ms)


def _pause(connection: Connection, ids: Ids, deployment_id: str, reason: str, now_ms: int) -> None:
    row: Row[Any] = connection.execute(FIND, {"id": deployment_id}).one()
    if row.status == "active":
        endings.pause_holding_lock(connection, ids, row, reason, now_ms=now_ms)


def _breaks(connection: Connection, row: Row[Any], count: int, first_ms: int, last_ms: int) -> bool:
    """Whether the circuit breaker opens. Calls that were dialled before the last start or resume do not count."""
    breaker = settings_of(row).circuit_breaker
    if breaker is None:
        return False
    since_ms = first_ms - breaker.window_seconds * SECOND
    given = {"id": row.id, "since": since_ms, "begun": run_since(row), "most": MOST_JUDGED + count}
    found = connection.execute(ENDED, given).all()
    known = [EndedCall(call.ended_at, call.outcome == FAILED) for call in reversed(found) if call.ended_at <= last_ms]
    return opens(breaker, known, from_ms=first_ms)


def _abandoned(connection: Connection, row: Row[Any], last_ms: int) -> Finding | None:
    """The finding of abandoned calls, by the calls after the last approval; None while a review waits."""
    last = compliance_reviews.newest(connection, row.id, ABANDON_RATE)
    if last is not None and last.status != "approved":
        return None
    begun_ms = compliance_reviews.clock_at_approval(last) or 0
    # The dial of a later call comes after the clock at the approval.
    given = {"id": row.id, "since": max(last_ms - ABANDONED_WITHIN_MS, begun_ms), "begun": begun_ms + 1}
    counts = {outcome: count for outcome, count in connection.execute(COUNTED, given).all()}
    return abandoned_calls(sum(counts.values()), counts.get(ABANDONED, 0))
