"""Pausing every campaign there is, for a reason that concerns them all."""

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select

from callwright.service.domain.ids import Ids
from callwright.service.ports import Ports
from callwright.service.storage.schema import deployments

from . import endings
from .queue import LOCKED

PAGE = 50
"""Deployments that one unit of work pauses."""
_D = deployments.c
_FOUND = (
    select(_D.id)
    .where(_D.call_type == "outbound", _D.status.in_(bindparam("statuses", expanding=True)))
    .order_by(_D.id)
    .limit(PAGE)
)


async def pause_all(ports: Ports, reason: str, *, statuses: Sequence[str]) -> None:
    """Pauses the campaigns in these states, whichever process drives them. A person resumes each."""
    while await ports.database.write(_pause_some, ports.ids, reason, statuses, ports.clock.now_ms()):
        pass


def _pause_some(connection: Connection, ids: Ids, reason: str, statuses: Sequence[str], now_ms: int) -> bool:
    found = connection.execute(_FOUND, {"statuses": list(statuses)}).scalars().all()
    for deployment_id in found:
        row = connection.execute(LOCKED, {"id": deployment_id}).one_or_none()
        if row is not None and row.status in statuses:
            endings.pause_locked(connection, ids, row, reason, now_ms=now_ms)
    return bool(found)
