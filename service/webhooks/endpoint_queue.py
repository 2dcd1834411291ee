"""Lanes: who sends to a subscription. A lease runs out unless it is renewed, and then another process goes on.

Rows are always locked in the same order, the subscription's before its lane's, and many lanes by their ids: whoever
changes a subscription, queues deliveries or holds a lane never waits for somebody who waits for them.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, func, literal_column, select

from callwright.service.platform.database.prepared import Prepared
from callwright.service.tables.lease import ENDPOINT_QUEUES, LeaseLost
from callwright.service.tables.schema import deliveries, webhook_lanes, webhooks

_L, _D, _W = webhook_lanes.c, deliveries.c, webhooks.c
PENDING: ColumnElement[bool] = literal_column("deliveries.status = 'pending'")
"""A literal, so that both engines use the partial index."""
_DUE = (
    select(_L.webhook_id, _W.org_id)
    .join(webhooks, _W.id == _L.webhook_id)
    .where(_L.due_at <= bindparam("b_now"), _L.webhook_id.not_in(bindparam("b_driven", expanding=True)))
    .order_by(_L.due_at, _L.webhook_id)
    .limit(bindparam("b_most"))
)
_NEXT_DUE = select(func.min(_L.due_at)).where(_L.due_at > bindparam("b_now"))
_WEBHOOK = Prepared(select(webhooks).where(_W.id == bindparam("b_lane")).with_for_update(key_share=True))
_NEXT = select(func.min(_D.next_attempt_at)).where(_D.webhook_id == bindparam("b_lane"), PENDING)
end_all, renew = ENDPOINT_QUEUES.end_all, ENDPOINT_QUEUES.renew
"""As `Lease` has them; whoever takes a queue whose lease has run out finds it left behind."""


@dataclass(frozen=True)
class DueLane:
    """A lane in which something is due and that nobody holds."""

    webhook_id: str
    org_id: str


@dataclass(frozen=True)
class TakenLane:
    """A lane that was leased. `left_behind` tells that its holder before did not give it back."""

    webhook_id: str
    left_behind: bool


def due(connection: Connection, owner: str, now_ms: int, most: int, driven: Collection[str] = ()) -> list[DueLane]:
    """Lanes that wait for somebody, those that have waited longest first.

    Those that the owner holds and has not `driven` any more are among them: it could not give them back.
    """
    free = _DUE.where(ENDPOINT_QUEUES.free(connection, owner, now_ms))
    given = {"b_now": now_ms, "b_most": most, "b_driven": list(driven)}
    return [DueLane(*row) for row in connection.execute(free, given)]


def next_due(connection: Connection, now_ms: int) -> int | None:
    """The next moment at which a lane becomes due."""
    return connection.execute(_NEXT_DUE, {"b_now": now_ms}).scalar()


def take(connection: Connection, webhook_ids: Sequence[str], owner: str, now_ms: int, until_ms: int) -> list[TakenLane]:
    """Leases those of the lanes that are still free, or the owner's already.

    None whose row somebody holds: that process may have frozen.
    """
    these = select(_L.webhook_id, _L.lease_owner).where(_L.webhook_id.in_(webhook_ids)).order_by(_L.webhook_id)
    taken = ENDPOINT_QUEUES.take(connection, these, owner, now_ms, until_ms)
    return [TakenLane(row.webhook_id, row.lease_owner is not None) for row in taken]


def mine(connection: Connection, webhook_id: str, owner: str) -> Any:
    """The subscription's row; it and its lane are locked. Raises `LeaseLost` when another process holds the lane."""
    webhook = _WEBHOOK.first(connection, {"b_lane": webhook_id})
    if webhook is None:
        raise LeaseLost(webhook_id)
    ENDPOINT_QUEUES.mine(connection, webhook_id, owner)
    return webhook


def release(connection: Connection, webhook_id: str, owner: str, now_ms: int) -> bool:
    """Gives a lane back, due when its next delivery is. To be called behind `mine`, in its transaction.

    One that is due already goes behind those that wait; true then.
    """
    at_ms = connection.execute(_NEXT, {"b_lane": webhook_id}).scalar()
    due_at = None if at_ms is None else max(at_ms, now_ms)
    ENDPOINT_QUEUES.release(connection, webhook_id, owner, due_at=due_at)
    return at_ms is not None and at_ms <= now_ms
