"""Pauses running deployments when the disk is full. A person has to resume them.

A call is stored before it is made, so nothing is dialled while nothing can be written. Deployments are shown as paused
meanwhile, and are paused by the first write that succeeds. They do not resume by themselves: a campaign must not start
dialling in the middle of the night because somebody deleted a file.
"""

from contextlib import suppress
from functools import partial
from hashlib import shake_256

import anyio
from sqlalchemy import Connection, delete

from callwright.service.campaigns.pausing import pause_all
from callwright.service.platform.database.database import ROOM_S
from callwright.service.platform.database.engines import DatabaseClosed
from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.platform.database.sqlite.disk_space import DRIVER_ERRORS, REASON
from callwright.service.platform.database.sqlite.file_guard import LOOK_S
from callwright.service.platform.wake_signal import WakeNotifier
from callwright.service.platform.worker_loop import repeat
from callwright.service.services import Services
from callwright.service.tables.schema import service_state

_PROBE = "storage_probe"
_FILLING = shake_256(b"").hexdigest(32_768)
"""64 KiB that cannot be compressed much."""


class StorageWatch:
    """Waits until the disk is full, and then until there is room. One for each process."""

    def __init__(self, services: Services, notifier: WakeNotifier) -> None:
        self._services, self._notifier = services, notifier

    async def run(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(repeat, self._look_at_file, "looking at the database file", every_s=LOOK_S))
            await repeat(self._recover_once_full, "pausing what ran when the disk was full", every_s=ROOM_S)

    async def _look_at_file(self) -> None:
        database = self._services.database
        was_gone = database.file_guard.is_gone
        if database.file_guard.look() and was_gone:
            self._notifier.notify()
        with suppress(DatabaseClosed, *DRIVER_ERRORS):
            await database.keep_log()

    async def _recover_once_full(self) -> None:
        await self._services.database.disk_space.wait_until_full()
        await self.recover()

    async def recover(self) -> None:
        """Pauses deployments that ran or were due, once there is room. Raises `StorageFull` if there is none."""
        services = self._services
        await services.database.write(_fill)
        await services.database.write(_free)
        await pause_all(services, REASON, only_due=True)
        services.database.disk_space.mark_freed()
        self._notifier.notify()


def _fill(connection: Connection) -> None:
    """Writes more than fits into space that a file may have left."""
    insert_ignoring_conflicts(connection, service_state, [{"name": _PROBE, "value": _FILLING}])


def _free(connection: Connection) -> None:
    connection.execute(delete(service_state).where(service_state.c.name == _PROBE))
