"""The time before which an organization's recordings are gone for good: `organizations.recordings_deleted_before`.

Calls have no mark of their own: a recording is deleted if its call ended before that time, which never moves back.
"""

from collections.abc import Sequence

from sqlalchemy import BigInteger, Connection, and_, bindparam, case, cast, func, or_, select, update

from callwright.service.platform.clock.clock import DAY, HOUR
from callwright.service.rules.organization_plans import PRICE_PLANS
from callwright.service.tables.schema import calls, organizations

STEP_MS = HOUR
"""How far a watermark lags at most: moving it for each call would need a commit each time."""
MOST_MOVED = 500
"""The most organizations whose watermark one unit of work moves."""
_O = organizations.c
_DAYS = func.coalesce(
    _O.recording_retention_days,
    case({plan.name: plan.recording_retention_days for plan in PRICE_PLANS.values()}, value=_O.plan),
)
_DELETED_BEFORE = bindparam("now", type_=BigInteger) - cast(_DAYS, BigInteger) * DAY
_DUE = (
    select(_O.id)
    .where(_DELETED_BEFORE - _O.recordings_deleted_before >= bindparam("step", type_=BigInteger))
    .order_by(_O.id)
    .limit(MOST_MOVED)
)
_MOVE = (
    update(organizations)
    .where(_O.id == bindparam("org"), _O.recordings_deleted_before < _DELETED_BEFORE)
    .values(recordings_deleted_before=_DELETED_BEFORE)
)
_UNKNOWN = and_(calls.c.carrier.is_not(None), calls.c.recorded.is_not(False))
"""Calls on lines that have a file, or may have one although nobody knows their turns. None has once the person's data
was deleted."""
_OF = select(_O.recordings_deleted_before).where(_O.id == bindparam("org"))


def watermark_of(connection: Connection, org_id: str) -> int:
    """The organization's watermark, in milliseconds since the epoch."""
    return connection.execute(_OF, {"org": org_id}).scalar_one()


def due(connection: Connection, now_ms: int) -> list[str]:
    """Organizations whose watermark lags by `STEP_MS` or more, at most `MOST_MOVED` of them."""
    return list(connection.execute(_DUE, {"now": now_ms, "step": STEP_MS}).scalars())


def settle(connection: Connection, org_ids: Sequence[str], now_ms: int) -> None:
    """Moves the watermarks of organizations to the present time less their retention. They never move back.

    Call it before an organization's retention becomes longer, so that deleted recordings stay deleted.
    """
    if org_ids:
        connection.execute(_MOVE, [{"org": org_id, "now": now_ms} for org_id in org_ids])


def kept_among(connection: Connection, call_ids: Sequence[str]) -> set[str]:
    """Those of the calls whose recording is not gone for good."""
    statement = (
        select(calls.c.id)
        .join(organizations, _O.id == calls.c.org_id)
        .where(
            calls.c.id.in_(call_ids),
            or_(
                calls.c.ended_at.is_(None),  # the file of a call on a line grows
                and_(calls.c.ended_at >= _O.recordings_deleted_before, or_(calls.c.turn_count > 0, _UNKNOWN)),
            ),
        )
    )
    return set(connection.execute(statement).scalars())
