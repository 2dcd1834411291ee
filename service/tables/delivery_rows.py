"""Rows of `deliveries`: making them, putting them into their queue, and taking out of it what will not be sent.

Whoever holds a lane locks its row and then computes the next moment at which something is due. So a lane is woken after
its deliveries are there, in the same transaction: the holder either sees them or is told.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, case, delete, insert, or_, select, update

from callwright.service.platform.database.bulk import inserting
from callwright.service.platform.database.concurrency import is_only_writer
from callwright.service.platform.ids import Ids
from callwright.service.tables.schema.events import UNARRIVED, deliveries, late_wakes, webhook_lanes

Cause = Literal["event", "test", "replay"]
Unsent = Literal["missed", "cancelled"]

MOST_LATE = 500
"""Lanes that are woken late at a time."""
_D = deliveries.c
_L = webhook_lanes.c
_COLUMNS = (
    "id",
    "org_id",
    "webhook_id",
    "event_id",
    "event_type",
    "cause",
    "status",
    "created_at",
    "attempt_count",
    "next_attempt_at",
    "finished_at",
)
_ADD = inserting(deliveries, _COLUMNS, skips=True)
_LOCK = (
    select(_L.webhook_id)
    .where(_L.webhook_id.in_(bindparam("b_lanes", expanding=True)))
    .order_by(_L.webhook_id)
    .with_for_update(skip_locked=True)
)
_LATE = late_wakes.c
_ANY_LATE = select(_LATE.id).limit(1)
_SOME_LATE = select(_LATE.id, _LATE.webhook_id).order_by(_LATE.id).limit(MOST_LATE).with_for_update(skip_locked=True)
_NOT_LATE = delete(late_wakes).where(_LATE.id.in_(bindparam("b_ids", expanding=True)))
_WAKE = (
    update(webhook_lanes)
    .where(
        _L.webhook_id.in_(bindparam("b_lanes", expanding=True)),
        or_(_L.due_at.is_(None), _L.due_at > bindparam("b_now")),
    )
    .values(due_at=bindparam("b_now"))
)
_REST = (
    update(webhook_lanes)
    .where(_L.webhook_id == bindparam("b_lane"))
    # One that is held stays due: should its holder end without a word, somebody has to enter what that has left.
    .values(due_at=case((_L.lease_owner.is_(None), None), else_=_L.due_at))
)
_END = (
    update(deliveries)
    .where(_D.webhook_id == bindparam("b_webhook"), _D.status == "pending")
    .values(status=bindparam("b_status"), finished_at=bindparam("b_now"), next_attempt_at=None)
)
_TAKE_OVER = (
    update(deliveries)
    .where(
        _D.event_id.in_(bindparam("b_events", expanding=True)),
        _D.webhook_id == bindparam("b_webhook"),
        UNARRIVED,
    )
    .values(replayed_at=bindparam("b_now"))
)
EVENTS_AT_ONCE = 500
"""Events that one statement takes over."""


def delivery_row(
    ids: Ids,
    *,
    org_id: str,
    webhook_id: str,
    event_id: str,
    event_type: str,
    cause: Cause,
    now_ms: int,
    missed: bool = False,
) -> dict[str, Any]:
    """A delivery, to be added with `queue`: pending and due at once, or `missed` for good."""
    return {
        "id": ids.new("dlv"),
        "org_id": org_id,
        "webhook_id": webhook_id,
        "event_id": event_id,
        "event_type": event_type,
        "cause": cause,
        "status": "missed" if missed else "pending",
        "created_at": now_ms,
        "attempt_count": 0,
        "next_attempt_at": None if missed else now_ms,
        "finished_at": now_ms if missed else None,
    }


def queue(connection: Connection, rows: Sequence[Mapping[str, Any]], now_ms: int) -> None:
    """Adds deliveries and wakes the lanes of the pending ones.

    A second delivery of cause `event` for the same event and subscription is left out: there is one already.
    """
    if not rows:
        return
    _ADD.run(connection, rows)
    # For each lane the id of one of its deliveries, which nothing else is called.
    wake(connection, {row["webhook_id"]: row["id"] for row in rows if row["status"] == "pending"}, now_ms)


def take_over(connection: Connection, webhook_id: str, event_ids: Sequence[str], now_ms: int) -> None:
    """Notes that deliveries of these events which did not arrive are made again. To be called before they are."""
    for begin in range(0, len(event_ids), EVENTS_AT_ONCE):
        some = list(event_ids[begin : begin + EVENTS_AT_ONCE])
        connection.execute(_TAKE_OVER, {"b_events": some, "b_webhook": webhook_id, "b_now": now_ms})


def wake(connection: Connection, wakes: Mapping[str, str], now_ms: int) -> None:
    """Makes lanes due now at the latest. To be called behind whatever became due, in its transaction.

    `wakes` names a wake for each lane. Where others write too, the lanes are locked first: a lane that its holder is
    about to change shows its new state only then. Those that others hold are noted and woken later (`wake_late`): a
    holder that has frozen keeps nobody waiting.
    """
    lanes: Sequence[str] = sorted(wakes)
    if not lanes:
        return
    if not is_only_writer(connection):
        free = set(connection.execute(_LOCK, {"b_lanes": lanes}).scalars())
        late = [{"id": wakes[lane], "webhook_id": lane} for lane in lanes if lane not in free]
        if late:
            connection.execute(insert(late_wakes), late)
        lanes = sorted(free)
    if lanes:
        connection.execute(_WAKE, {"b_lanes": lanes, "b_now": now_ms})


def sleeps_late(connection: Connection) -> bool:
    """Whether lanes wait to be woken."""
    return connection.execute(_ANY_LATE).scalar() is not None


def wake_late(connection: Connection, now_ms: int) -> int:
    """Wakes lanes that others held before, unless they still do; returns how many."""
    found = connection.execute(_SOME_LATE).all()
    lanes = sorted({row.webhook_id for row in found})
    free = set(connection.execute(_LOCK, {"b_lanes": lanes}).scalars()) if lanes else set[str]()
    if free:
        connection.execute(_WAKE, {"b_lanes": sorted(free), "b_now": now_ms})
        connection.execute(_NOT_LATE, {"b_ids": [row.id for row in found if row.webhook_id in free]})
    return len(free)


def end_pending(connection: Connection, webhook_id: str, status: Unsent, now_ms: int) -> None:
    """Ends what waits to be sent to a subscription, and lets its lane rest.

    The mark of an attempt that is under way stays: its outcome is still entered by whoever sends it.
    """
    connection.execute(_END, {"b_webhook": webhook_id, "b_status": status, "b_now": now_ms})
    connection.execute(_REST, {"b_lane": webhook_id})
