"""Endpoint queues: one for each subscription, which one process at a time leases and sends from.

Rows are always locked in the same order, a subscription before its queue, and several queues by id, so that changes of
a subscription, new deliveries and holders of a queue cannot deadlock.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, func, literal_column, select

from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.lease import LeaseLost
from callwright.service.tables.schema import deliveries, endpoint_queues, webhooks
from callwright.service.tables.schema.leases import ENDPOINT_QUEUES

_Q, _D, _W = endpoint_queues.c, deliveries.c, webhooks.c
PENDING: ColumnElement[bool] = literal_column("deliveries.status = 'pending'")
"""A literal, so that both engines use the partial index."""
_DUE = (
    select(_Q.webhook_id, _W.org_id)
    .join(webhooks, _W.id == _Q.webhook_id)
    .where(_Q.due_at <= bindparam("b_now"), _Q.webhook_id.not_in(bindparam("b_driven", expanding=True)))
    .order_by(_Q.due_at, _Q.webhook_id)
    .limit(bindparam("b_most"))
)
_NEXT_DUE = select(func.min(_Q.due_at)).where(_Q.due_at > bindparam("b_now"))
_WEBHOOK = Prepared(select(webhooks).where(_W.id == bindparam("b_queue")).with_for_update(key_share=True))
_NEXT = select(func.min(_D.next_attempt_at)).where(_D.webhook_id == bindparam("b_queue"), PENDING)
end_all, renew = ENDPOINT_QUEUES.end_all, ENDPOINT_QUEUES.renew
"""The methods of `Lease`. A queue whose lease has expired is `was_abandoned` when it is taken."""


@dataclass(frozen=True)
class DueQueue:
    """An endpoint queue that is due and that nobody holds."""

    webhook_id: str
    org_id: str


@dataclass(frozen=True)
class TakenQueue:
    """An endpoint queue that was leased. `was_abandoned`: its previous holder did not release it."""

    webhook_id: str
    was_abandoned: bool


def due(connection: Connection, owner: str, now_ms: int, most: int, driven: Collection[str] = ()) -> list[DueQueue]:
    """Endpoint queues that are due and may be leased, those that have waited longest first.

    They include those that the owner holds but does not have among `driven`: it failed to release them.
    """
    free = _DUE.where(ENDPOINT_QUEUES.free(connection, owner, now_ms))
    given = {"b_now": now_ms, "b_most": most, "b_driven": list(driven)}
    return [DueQueue(*row) for row in connection.execute(free, given)]


def next_due(connection: Connection, now_ms: int) -> int | None:
    """When the next endpoint queue becomes due; None if none waits."""
    return connection.execute(_NEXT_DUE, {"b_now": now_ms}).scalar()


def take(
    connection: Connection, webhook_ids: Sequence[str], owner: str, now_ms: int, until_ms: int
) -> list[TakenQueue]:
    """Leases those of the endpoint queues that are still free, or the owner's already.

    Skips queues whose row is locked: the process that locked it may have frozen.
    """
    these = select(_Q.webhook_id, _Q.lease_owner).where(_Q.webhook_id.in_(webhook_ids)).order_by(_Q.webhook_id)
    taken = ENDPOINT_QUEUES.take(connection, these, owner, now_ms, until_ms)
    return [TakenQueue(row.webhook_id, row.lease_owner is not None) for row in taken]


def mine(connection: Connection, webhook_id: str, owner: str) -> Any:
    """The subscription's row; it and its queue are locked. Raises `LeaseLost` when another process holds the queue."""
    webhook = _WEBHOOK.first(connection, {"b_queue": webhook_id})
    if webhook is None:
        raise LeaseLost(webhook_id)
    ENDPOINT_QUEUES.mine(connection, webhook_id, owner)
    return webhook


def release(connection: Connection, webhook_id: str, owner: str, now_ms: int) -> bool:
    """Releases an endpoint queue, due when its next delivery is. Call it after `mine`, in its transaction.

    Returns whether it is due already; then it is queued behind those that wait.
    """
    at_ms = connection.execute(_NEXT, {"b_queue": webhook_id}).scalar()
    due_at = None if at_ms is None else max(at_ms, now_ms)
    ENDPOINT_QUEUES.release(connection, webhook_id, owner, due_at=due_at)
    return at_ms is not None and at_ms <= now_ms
