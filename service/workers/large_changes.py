"""Changes of many rows, a piece of each in turn: contacts that are added, dropped or follow changed rules, and
audiences that were deleted.

Each piece is one transaction that says how far it has come, so any process goes on where another has ended.
"""

from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy import Connection, Row, bindparam, select

from callwright.service.campaigns import removed_audiences
from callwright.service.campaigns.activation import add_piece, hold_audience
from callwright.service.dialling.changed_rules import change_piece
from callwright.service.dialling.dropped_contacts import drop_piece
from callwright.service.dialling.queue import FIND
from callwright.service.platform.database.units import brief
from callwright.service.services import Services
from callwright.service.tables.schema import deployments

_D = deployments.c
_Done = Literal["a piece", "to be dialled"]
_FEW = 25
_CHANGING = select(_D.id).where(_D.contact_changes.is_not(None)).order_by(_D.id).limit(_FEW)
_AUDIENCE_OF = select(_D.audience_id).where(_D.id == bindparam("id"))
_LOCK = FIND.where(_D.contact_changes.is_not(None)).with_for_update(skip_locked=True)


async def work_on_some(services: Services) -> bool:
    """Does a piece of each change that is under way; false when there is none, or other processes hold them all. A
    campaign whose contacts are all added, or all follow its rules, may be dialled from then on."""
    database, has_worked = services.database, False
    deployment_ids, audience_ids = await database.read(_left)
    for deployment_id in deployment_ids:
        done = await database.write(_change_contacts, deployment_id, now_ms=services.clock.now_ms())
        has_worked |= done is not None
        if done == "to be dialled":
            services.wake()
    for audience_id in audience_ids:
        has_worked |= await database.write(removed_audiences.remove_piece, audience_id)
    return has_worked


@brief
def _left(connection: Connection) -> tuple[Sequence[str], Sequence[str]]:
    return connection.execute(_CHANGING).scalars().all(), removed_audiences.removed(connection)


def _change_contacts(connection: Connection, deployment_id: str, *, now_ms: int) -> _Done | None:
    """Does a piece; None if another process does. A campaign is to be dialled after its last piece."""
    hold_audience(connection, connection.execute(_AUDIENCE_OF, {"id": deployment_id}).scalar_one())
    row: Row[Any] | None = connection.execute(_LOCK, {"id": deployment_id}).one_or_none()
    if row is None:
        return None
    if row.contact_changes == "adding":
        return "to be dialled" if add_piece(connection, row, now_ms=now_ms) else "a piece"
    if row.contact_changes == "rescheduling":
        return "to be dialled" if change_piece(connection, row) else "a piece"
    drop_piece(connection, row)
    return "a piece"
