"""Which process drives which deployment. A lease runs out unless it is renewed, and then another process takes over.

A lease is not a lock: every write of a driver checks that the lease is still its own (`mine`), and what is dialled is
decided by rows that only one transaction can make.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, or_, select, update

from callwright.service.dialling.queue import LOCKED
from callwright.service.platform.database.concurrency import moment_of
from callwright.service.platform.database.units import brief
from callwright.service.tables.schema import deployments, imports
from callwright.service.telephony.engine import CallRequest

_D = deployments.c
_OPEN = and_(_D.call_type == "outbound", or_(_D.status == "active", _D.in_flight > 0))
_CANDIDATES = (
    select(_D.id)
    .where(_OPEN, _D.id.not_in(bindparam("b_driven", expanding=True)))
    .order_by(_D.lease_until, _D.id)
    .limit(bindparam("most"))
)
_THESE = _D.id.in_(bindparam("b_ids", expanding=True))
_HELD = select(_D.id).where(_D.lease_owner == bindparam("b_owner"), _THESE)
_RELEASE = (
    update(deployments)
    .where(_D.id == bindparam("b_id"), _D.lease_owner == bindparam("b_owner"))
    .values(lease_owner=None, lease_until=None)
)
_FORGET = tuple(
    update(table).where(table.c.lease_owner.is_not(None)).values(lease_owner=None, lease_until=None)
    for table in (deployments, imports)
)


class LeaseLost(Exception):
    """Another process drives the deployment now; the unit of work is undone and the driver ends."""


def until(connection: Connection, now_ms: int, until_ms: int) -> ColumnElement[int]:
    """When a lease runs out that is taken or held on to now."""
    return moment_of(connection, now_ms) + (until_ms - now_ms)


def _free(connection: Connection, owner: str, now_ms: int) -> ColumnElement[bool]:
    return or_(_D.lease_owner.is_(None), _D.lease_owner == owner, _D.lease_until < moment_of(connection, now_ms))


@brief
def candidates(
    connection: Connection, owner: str, now_ms: int, most: int, driven: Collection[str] = ()
) -> Sequence[str]:
    """Deployments that need a driver and have none.

    Those that the owner holds and has not `driven` any more are among them: it could not give them back.
    """
    given = {"most": most, "b_driven": list(driven)}
    return connection.execute(_CANDIDATES.where(_free(connection, owner, now_ms)), given).scalars().all()


def take(connection: Connection, ids: Sequence[str], owner: str, now_ms: int, until_ms: int) -> list[str]:
    """Leases those of the deployments that are still free, or the owner's already; returns their ids.

    One whose row somebody holds is left alone: nobody waits here, since whoever holds it may have frozen.
    """
    free = select(_D.id).where(_THESE, _OPEN, _free(connection, owner, now_ms)).order_by(_D.id)
    taken = list(connection.execute(free.with_for_update(skip_locked=True), {"b_ids": list(ids)}).scalars())
    _set(connection, taken, {"lease_owner": owner, "lease_until": until(connection, now_ms, until_ms)})
    return taken


def renew(
    connection: Connection, ids: Sequence[str], owner: str, now_ms: int, until_ms: int, *, waits: bool = False
) -> Sequence[str]:
    """Holds on to the leases that are still the owner's, and returns those.

    Without `waits` it leaves out those whose rows others hold at this moment.
    """
    mine_now = _HELD.order_by(_D.id).with_for_update(skip_locked=not waits)
    held = connection.execute(mine_now, {"b_ids": list(ids), "b_owner": owner}).scalars().all()
    _set(connection, held, {"lease_until": until(connection, now_ms, until_ms)})
    return held


def _set(connection: Connection, ids: Sequence[str], values: dict[str, Any]) -> None:
    if ids:
        connection.execute(update(deployments).where(_THESE).values(values), {"b_ids": list(ids)})


def release(connection: Connection, deployment_id: str, owner: str) -> None:
    """Gives a lease back."""
    connection.execute(_RELEASE, {"b_id": deployment_id, "b_owner": owner})


def forget_all(connection: Connection) -> None:
    """Frees every lease. Only for a database that a single process uses, at its start."""
    for forget in _FORGET:
        connection.execute(forget)


def mine(connection: Connection, deployment_id: str, owner: str) -> Row[tuple[object, ...]]:
    """The deployment's row, locked. Raises `LeaseLost` when it is another process's by now."""
    row = connection.execute(LOCKED, {"id": deployment_id}).one_or_none()
    if row is None or row.lease_owner != owner:
        raise LeaseLost(deployment_id)
    return row


def fence_of(owner: str) -> Callable[[Connection, CallRequest], object]:
    """What is checked in the transaction that dials: that the deployment is still the owner's.

    A process that froze between claiming a call and dialling it finds that another one has dialled it meanwhile.
    """
    return lambda connection, request: mine(connection, request.deployment_id, owner)
