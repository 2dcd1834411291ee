"""Which process drives which deployment. A lease runs out unless it is renewed, and then another process takes over.

A lease is not a lock: every write of a driver checks that the lease is still its own (`mine`), and what is dialled is
decided by rows that only one transaction can make.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, Row, and_, bindparam, or_, select, update

from callwright.service.storage.schema import deployments, imports

from .queue import LOCKED

_D = deployments.c
_OPEN = and_(_D.call_type == "outbound", or_(_D.status == "active", _D.in_flight > 0))
_FREE = or_(_D.lease_owner.is_(None), _D.lease_until < bindparam("b_now"))
_CANDIDATES = select(_D.id).where(_OPEN, _FREE).order_by(_D.lease_until, _D.id).limit(bindparam("most"))
_TAKE = (
    update(deployments)
    .where(_D.id == bindparam("b_id"), _OPEN, _FREE)
    .values(lease_owner=bindparam("b_owner"), lease_until=bindparam("b_until"))
)
_RENEW = (
    update(deployments)
    .where(_D.lease_owner == bindparam("b_owner"), _D.id.in_(bindparam("b_ids", expanding=True)))
    .values(lease_until=bindparam("b_until"))
)
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


def candidates(connection: Connection, now_ms: int, most: int) -> Sequence[str]:
    """Deployments that need a driver and have none."""
    return connection.execute(_CANDIDATES, {"b_now": now_ms, "most": most}).scalars().all()


def take(connection: Connection, ids: Sequence[str], owner: str, now_ms: int, until_ms: int) -> list[str]:
    """Leases those of the deployments that are still free; returns their ids."""
    taken: list[str] = []
    for deployment_id in ids:
        given = {"b_id": deployment_id, "b_owner": owner, "b_now": now_ms, "b_until": until_ms}
        if connection.execute(_TAKE, given).rowcount:
            taken.append(deployment_id)
    return taken


def renew(connection: Connection, ids: Sequence[str], owner: str, until_ms: int) -> None:
    """Holds on to the leases that are still the owner's."""
    connection.execute(_RENEW, {"b_ids": list(ids), "b_owner": owner, "b_until": until_ms})


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
