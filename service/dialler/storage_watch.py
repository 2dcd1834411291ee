"""What happens to running deployments when the disk is full: they are paused, and a person resumes them.

While nothing can be written nothing is dialled, since a call is stored before it is made. Deployments are shown as
paused meanwhile (`handlers/deployment_view.py`), and are paused with the first thing that can be written again. They do
not go on by themselves: nobody can say how long the disk was full, and a campaign that begins to dial in the middle of
the night because somebody deleted a file is a surprise.
"""

import logging
from hashlib import shake_256

import anyio
from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.postgresql import insert as pg_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from callwright.service.domain.alarm import Bell
from callwright.service.domain.ids import Ids
from callwright.service.ports import Ports
from callwright.service.storage.database import ROOM_S
from callwright.service.storage.fullness import REASON, StorageFull
from callwright.service.storage.schema import deployments, service_state

from . import endings
from .queue import LOCKED

log = logging.getLogger(__name__)
PAGE = 50
"""Deployments that one unit of work pauses."""
_PROBE = "storage_probe"
_FILLING = shake_256(b"").hexdigest(32_768)
"""64 KiB that no engine makes much smaller."""
_D = deployments.c
_RUNNING = select(_D.id).where(_D.call_type == "outbound", _D.status == "active").order_by(_D.id).limit(PAGE)


class StorageWatch:
    """Waits for a full disk, and then for room. One for each process."""

    def __init__(self, ports: Ports, bell: Bell) -> None:
        self._ports, self._bell = ports, bell

    async def run(self) -> None:
        """Watches until cancelled."""
        fullness = self._ports.database.fullness
        while True:
            await fullness.found()
            try:
                await self.recover()
            except StorageFull:
                await anyio.sleep(ROOM_S)
            except Exception:
                log.exception("pausing what was running when the disk was full failed")
                await anyio.sleep(ROOM_S)

    async def recover(self) -> None:
        """Finds out whether there is room again, and pauses what was running. Raises `StorageFull` if there is not."""
        ports = self._ports
        await ports.database.write(_fill)
        while await ports.database.write(_pause_some, ports.ids, ports.clock.now_ms()):
            pass
        ports.database.fullness.over()
        self._bell.ring()


def _fill(connection: Connection) -> None:
    """Writes more than finds its place by chance in room that was left in a file."""
    insert = sqlite_insert if connection.dialect.name == "sqlite" else pg_insert
    row = {"name": _PROBE, "value": _FILLING}
    connection.execute(insert(service_state).values(row).on_conflict_do_nothing())


def _pause_some(connection: Connection, ids: Ids, now_ms: int) -> bool:
    connection.execute(delete(service_state).where(service_state.c.name == _PROBE))
    found = connection.execute(_RUNNING).scalars().all()
    for deployment_id in found:
        row = connection.execute(LOCKED, {"id": deployment_id}).one_or_none()
        if row is not None and row.status == "active":
            endings.pause_locked(connection, ids, row, REASON, now_ms=now_ms)
    return bool(found)
