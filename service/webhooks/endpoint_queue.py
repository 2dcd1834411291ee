"""Lanes: who sends to a subscription. A lease runs out unless it is renewed, and then another process goes on.

Rows are always locked in the same order, the subscription's before its lane's, and many lanes by their ids: whoever
changes a subscription, queues deliveries or holds a lane never waits for somebody who waits for them.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, func, literal_column, or_, select, update

from callwright.service.platform.database.prepared import Prepared
from callwright.service.tables.schema import deliveries, webhook_lanes, webhooks

_L, _D, _W = webhook_lanes.c, deliveries.c, webhooks.c
PENDING: ColumnElement[bool] = literal_column("deliveries.status = 'pending'")
"""A literal, so that both engines use the partial index."""
_FREE = or_(_L.lease_owner.is_(None), _L.lease_owner == bindparam("b_owner"), _L.lease_until < bindparam("b_now"))
_DUE = (
    select(_L.webhook_id, _W.org_id)
    .join(webhooks, _W.id == _L.webhook_id)
    .where(_L.due_at <= bindparam("b_now"), _FREE, _L.webhook_id.not_in(bindparam("b_driven", expanding=True)))
    .order_by(_L.due_at, _L.webhook_id)
    .limit(bindparam("b_most"))
)
_NEXT_DUE = select(func.min(_L.due_at)).where(_L.due_at > bindparam("b_now"))
_STILL_FREE = (
    select(_L.webhook_id, _L.lease_owner)
    .where(_L.webhook_id.in_(bindparam("b_lanes", expanding=True)), _FREE)
    .order_by(_L.webhook_id)
    .with_for_update(skip_locked=True)
)
_TAKE = (
    update(webhook_lanes)
    .where(_L.webhook_id.in_(bindparam("b_lanes", expanding=True)))
    .values(lease_owner=bindparam("b_owner"), lease_until=bindparam("b_until"))
)
_HELD = (
    select(_L.webhook_id)
    .where(_L.webhook_id.in_(bindparam("b_lanes", expanding=True)), _L.lease_owner == bindparam("b_owner"))
    .order_by(_L.webhook_id)
)
_HELD_NOW, _HELD_SOON = _HELD.with_for_update(skip_locked=True), _HELD.with_for_update()
_WEBHOOK = Prepared(select(webhooks).where(_W.id == bindparam("b_lane")).with_for_update(key_share=True))
_OWNER = Prepared(select(_L.lease_owner).where(_L.webhook_id == bindparam("b_lane")).with_for_update())
_NEXT = select(func.min(_D.next_attempt_at)).where(_D.webhook_id == bindparam("b_lane"), PENDING)
_RELEASE = (
    update(webhook_lanes)
    .where(_L.webhook_id == bindparam("b_lane"))
    .values(lease_owner=None, lease_until=None, due_at=bindparam("b_due"))
)
_RUN_OUT = update(webhook_lanes).where(_L.lease_owner.is_not(None)).values(lease_until=0)


class LeaseLost(Exception):
    """Another process sends to the subscription now; the unit of work is undone and the sender ends."""


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
    given = {"b_now": now_ms, "b_most": most, "b_owner": owner, "b_driven": list(driven)}
    return [DueLane(*row) for row in connection.execute(_DUE, given)]


def next_due(connection: Connection, now_ms: int) -> int | None:
    """The next moment at which a lane becomes due."""
    return connection.execute(_NEXT_DUE, {"b_now": now_ms}).scalar()


def take(connection: Connection, webhook_ids: Sequence[str], owner: str, now_ms: int, until_ms: int) -> list[TakenLane]:
    """Leases those of the lanes that are still free, or the owner's already.

    None whose row somebody holds: that process may have frozen.
    """
    given = {"b_lanes": list(webhook_ids), "b_now": now_ms, "b_owner": owner}
    taken = [TakenLane(row.webhook_id, row.lease_owner is not None) for row in connection.execute(_STILL_FREE, given)]
    if taken:
        lanes = [lane.webhook_id for lane in taken]
        connection.execute(_TAKE, {"b_lanes": lanes, "b_owner": owner, "b_until": until_ms})
    return taken


def renew(
    connection: Connection, webhook_ids: Iterable[str], owner: str, until_ms: int, *, waits: bool = False
) -> Sequence[str]:
    """Holds on to the leases that are still the owner's, and returns those.

    Without `waits` it leaves out those whose rows others hold at this moment.
    """
    statement = _HELD_SOON if waits else _HELD_NOW
    held = connection.execute(statement, {"b_lanes": sorted(webhook_ids), "b_owner": owner}).scalars().all()
    if held:
        connection.execute(_TAKE, {"b_lanes": held, "b_owner": owner, "b_until": until_ms})
    return held


def mine(connection: Connection, webhook_id: str, owner: str) -> Any:
    """The subscription's row; it and its lane are locked. Raises `LeaseLost` when another process holds the lane."""
    webhook = _WEBHOOK.first(connection, {"b_lane": webhook_id})
    lane = _OWNER.first(connection, {"b_lane": webhook_id})
    if webhook is None or lane is None or lane.lease_owner != owner:
        raise LeaseLost(webhook_id)
    return webhook


def release(connection: Connection, webhook_id: str, now_ms: int) -> bool:
    """Gives a lane back, due when its next delivery is. To be called behind `mine`, in its transaction.

    One that is due already goes behind those that wait; true then.
    """
    at_ms = connection.execute(_NEXT, {"b_lane": webhook_id}).scalar()
    connection.execute(_RELEASE, {"b_lane": webhook_id, "b_due": None if at_ms is None else max(at_ms, now_ms)})
    return at_ms is not None and at_ms <= now_ms


def all_left_behind(connection: Connection) -> None:
    """Lets every lease run out. Only for a database that a single process uses, at its start."""
    connection.execute(_RUN_OUT)
