"""Rows of `deliveries`: makes them, queues them, and ends those that will not be sent.

The holder of an endpoint queue locks its row and then computes the time at which the next delivery is due. So a queue
is woken after its deliveries are inserted, in the same transaction: the holder either sees them or is woken.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, case, delete, insert, or_, select, update

from callwright.service.platform.database.bulk import BulkInsert
from callwright.service.platform.database.concurrency import is_only_writer
from callwright.service.platform.ids import Ids
from callwright.service.tables.schema.events import UNARRIVED, deliveries, endpoint_queues, late_wakes

Cause = Literal["event", "test", "replay"]
Unsent = Literal["missed", "cancelled"]

MOST_DEFERRED = 500
"""The most entries of `late_wakes` that one unit of work handles."""
_D = deliveries.c
_Q = endpoint_queues.c
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
_ADD = BulkInsert(deliveries, _COLUMNS, skips=True)
_LOCK = (
    select(_Q.webhook_id)
    .where(_Q.webhook_id.in_(bindparam("b_queues", expanding=True)))
    .order_by(_Q.webhook_id)
    .with_for_update(skip_locked=True)
)
_LATE = late_wakes.c
_ANY_DEFERRED = select(_LATE.id).limit(1)
_SOME_DEFERRED = (
    select(_LATE.id, _LATE.webhook_id).order_by(_LATE.id).limit(MOST_DEFERRED).with_for_update(skip_locked=True)
)
_FORGET_DEFERRED = delete(late_wakes).where(_LATE.id.in_(bindparam("b_ids", expanding=True)))
_WAKE = (
    update(endpoint_queues)
    .where(
        _Q.webhook_id.in_(bindparam("b_queues", expanding=True)),
        or_(_Q.due_at.is_(None), _Q.due_at > bindparam("b_now")),
    )
    .values(due_at=bindparam("b_now"))
)
_REST = (
    update(endpoint_queues)
    .where(_Q.webhook_id == bindparam("b_queue"))
    # A queue that is held stays due: if its holder is killed, another process has to record its attempts.
    .values(due_at=case((_Q.lease_owner.is_(None), None), else_=_Q.due_at))
)
_END = (
    update(deliveries)
    .where(_D.webhook_id == bindparam("b_webhook"), _D.status == "pending")
    .values(status=bindparam("b_status"), finished_at=bindparam("b_now"), next_attempt_at=None)
)
_TAKE_OVER = (
    update(deliveries)
    .where(_D.event_id.in_(bindparam("b_events", expanding=True)), _D.webhook_id == bindparam("b_webhook"), UNARRIVED)
    .values(replayed_at=bindparam("b_now"))
)
EVENTS_AT_ONCE = 500
"""The most events in one statement of `take_over`."""


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
    """Adds deliveries and wakes the endpoint queues of the pending ones.

    A second delivery of cause `event` for the same event and subscription is left out: there is one already.
    """
    if not rows:
        return
    _ADD.run(connection, rows)
    # For each endpoint queue the id of one of its deliveries, as a unique id of the wake.
    wake(connection, {row["webhook_id"]: row["id"] for row in rows if row["status"] == "pending"}, now_ms)


def take_over(connection: Connection, webhook_id: str, event_ids: Sequence[str], now_ms: int) -> None:
    """Marks deliveries of these events that did not arrive as replayed. Call it before the new ones are queued."""
    for begin in range(0, len(event_ids), EVENTS_AT_ONCE):
        some = list(event_ids[begin : begin + EVENTS_AT_ONCE])
        connection.execute(_TAKE_OVER, {"b_events": some, "b_webhook": webhook_id, "b_now": now_ms})


def wake(connection: Connection, wakes: Mapping[str, str], now_ms: int) -> None:
    """Makes endpoint queues due now at the latest. Call it after the change that makes them due, in its transaction.

    `wakes` has an id of the wake for each subscription. On Postgres, the endpoint queues are locked first, because a
    holder may be about to change one. Those that others have locked are stored and woken later (`wake_deferred`), so
    that nothing waits for a holder that has frozen.
    """
    webhook_ids: Sequence[str] = sorted(wakes)
    if not webhook_ids:
        return
    if not is_only_writer(connection):
        free = set(connection.execute(_LOCK, {"b_queues": webhook_ids}).scalars())
        deferred = [
            {"id": wakes[webhook_id], "webhook_id": webhook_id} for webhook_id in webhook_ids if webhook_id not in free
        ]
        if deferred:
            connection.execute(insert(late_wakes), deferred)
        webhook_ids = sorted(free)
    if webhook_ids:
        connection.execute(_WAKE, {"b_queues": webhook_ids, "b_now": now_ms})


def has_deferred_wakes(connection: Connection) -> bool:
    """Whether wakes of endpoint queues were deferred."""
    return connection.execute(_ANY_DEFERRED).scalar() is not None


def wake_deferred(connection: Connection, now_ms: int) -> int:
    """Wakes endpoint queues that others had locked before, unless they still do; returns how many."""
    found = connection.execute(_SOME_DEFERRED).all()
    webhook_ids = sorted({row.webhook_id for row in found})
    free = set(connection.execute(_LOCK, {"b_queues": webhook_ids}).scalars()) if webhook_ids else set[str]()
    if free:
        connection.execute(_WAKE, {"b_queues": sorted(free), "b_now": now_ms})
        connection.execute(_FORGET_DEFERRED, {"b_ids": [row.id for row in found if row.webhook_id in free]})
    return len(free)


def end_pending(connection: Connection, webhook_id: str, status: Unsent, now_ms: int) -> None:
    """Ends the pending deliveries of a subscription, so that its endpoint queue is no longer due.

    The mark of an attempt that is under way stays: its sender still records its outcome.
    """
    connection.execute(_END, {"b_webhook": webhook_id, "b_status": status, "b_now": now_ms})
    connection.execute(_REST, {"b_queue": webhook_id})
