"""Pauses all campaigns, for a reason that concerns all of them, such as a full disk."""

from sqlalchemy import BigInteger, ColumnElement, Connection, bindparam, or_, select

from callwright.service.dialling import endings
from callwright.service.dialling.queue import LOCKED
from callwright.service.platform.ids import Ids
from callwright.service.services import Services
from callwright.service.tables.schema import deployments

PAGE = 50
"""Deployments that one unit of work pauses."""
_D = deployments.c


def goes(until_ms: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether a deployment is a campaign that is active, or scheduled to start by `until_ms`."""
    due = (_D.status == "scheduled") & (_D.start_at <= until_ms)
    return (_D.call_type == "outbound") & or_(_D.status == "active", due)


_FOUND = select(_D.id).where(goes(bindparam("until", type_=BigInteger))).order_by(_D.id).limit(PAGE)
_LATEST = 2**63 - 1
"""Later than any time."""


async def pause_all(services: Services, reason: str, *, only_due: bool) -> None:
    """Pauses all active and scheduled campaigns, whichever process drives them. A person has to resume each.

    With `only_due` campaigns whose start is still in the future stay scheduled.
    """
    while await services.database.write(_pause_some, services.ids, reason, services.clock.now_ms(), only_due=only_due):
        pass


def _pause_some(connection: Connection, ids: Ids, reason: str, now_ms: int, *, only_due: bool) -> bool:
    until = now_ms if only_due else _LATEST
    found = connection.execute(_FOUND, {"until": until}).scalars().all()
    for deployment_id in found:
        row = connection.execute(LOCKED, {"id": deployment_id}).one_or_none()
        if row is not None and (row.status == "active" or (row.status == "scheduled" and row.start_at <= until)):
            endings.pause_holding_lock(connection, ids, row, reason, now_ms=now_ms)
    return bool(found)
