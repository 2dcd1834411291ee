"""Which process drives which deployment: leases of deployments that have work to do.

A lease does not decide whether a call is made; the claim of the call does.
"""

from collections.abc import Callable, Collection, Sequence

from sqlalchemy import Connection, and_, bindparam, or_, select

from callwright.service.platform.database.units import brief
from callwright.service.platform.lease import LeaseLost
from callwright.service.tables.schema import deployments, simulated_callers
from callwright.service.tables.schema.leases import DEPLOYMENTS, IMPORTS, LEGS
from callwright.service.telephony.engine import CallRequest

__all__ = ["LeaseLost", "candidates", "fence_of", "forget_all", "mine", "release", "renew", "take", "until"]

FOR_EVER_MS = 1 << 62
_D = deployments.c
_CALLED = _D.id.in_(
    select(simulated_callers.c.deployment_id).where(simulated_callers.c.at_ms <= bindparam("b_called_until"))
)
_OPEN = select(_D.id).where(
    or_(
        _D.in_flight > 0,
        and_(_D.call_type != "inbound", _D.status == "active", _D.contact_changes.is_(None)),
        and_(_D.call_type == "inbound", _CALLED),
    )
)
"""Inbound deployments need a driver while somebody calls."""
_CANDIDATES = (
    _OPEN.where(_D.id.not_in(bindparam("b_driven", expanding=True)))
    .order_by(_D.lease_until, _D.id)
    .limit(bindparam("most"))
)
until, renew, release, mine = DEPLOYMENTS.until, DEPLOYMENTS.renew, DEPLOYMENTS.release, DEPLOYMENTS.mine
"""The methods of `Lease`, for deployments."""


@brief
def candidates(
    connection: Connection,
    owner: str,
    now_ms: int,
    most: int,
    driven: Collection[str] = (),
    *,
    called_until_ms: int = FOR_EVER_MS,
) -> Sequence[str]:
    """Deployments that need a driver and have none; inbound ones if somebody calls by `called_until_ms`.

    Deployments that the owner has leased and does not have among `driven` are included: it failed to release them.
    """
    free = _CANDIDATES.where(DEPLOYMENTS.free(connection, owner, now_ms))
    return (
        connection.execute(free, {"most": most, "b_driven": list(driven), "b_called_until": called_until_ms})
        .scalars()
        .all()
    )


def take(connection: Connection, ids: Sequence[str], owner: str, now_ms: int, until_ms: int) -> list[str]:
    """Leases those of the deployments that are still free, or the owner's already; returns their ids.

    Rows that are locked are skipped.
    """
    these = _OPEN.where(_D.id.in_(ids)).order_by(_D.id).params(b_called_until=FOR_EVER_MS)
    return [row.id for row in DEPLOYMENTS.take(connection, these, owner, now_ms, until_ms)]


def forget_all(connection: Connection) -> None:
    """Ends every lease. Only for a database that a single process uses, when that process starts."""
    DEPLOYMENTS.end_all(connection)
    IMPORTS.end_all(connection)
    LEGS.end_all(connection)


def fence_of(owner: str) -> Callable[[Connection, CallRequest], object]:
    """A check, for the transaction that dials, that the owner still leases the deployment; else it raises `LeaseLost`.

    It stops a process that froze after claiming a call while another process took over the deployment.
    """
    return lambda connection, request: mine(connection, request.deployment_id, owner)
