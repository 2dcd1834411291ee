"""Fetches the files of imports that name a URL, several at a time, so that a slow host holds up no other import.

The file is written where an upload would be. It is there in part after a crash, and the next process goes on from that.
"""

import importlib
import logging
from collections.abc import Callable, Sequence
from ssl import SSLContext
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup
from sqlalchemy import Connection, Row, Select, select, update

from callwright.service.platform.clock.clock import SECOND
from callwright.service.platform.database.sqlite.disk_space import StorageFull
from callwright.service.platform.database.units import brief
from callwright.service.platform.lease import RELEASED, LeaseLost
from callwright.service.platform.outgoing.names import LookUp, system_look_up
from callwright.service.platform.uploads import UploadBusy, Uploads
from callwright.service.platform.worker_loop import RETRY_S
from callwright.service.services import Services
from callwright.service.tables.schema import imports
from callwright.service.tables.schema.leases import IMPORTS
from callwright.service.workers.fetching.failures import FetchBroken, FetchRefused
from callwright.service.workers.import_records import expired, fail

if TYPE_CHECKING:
    from callwright.service.workers.fetching.downloads import Downloads

log = logging.getLogger(__name__)
_I = imports.c
MOST_AT_A_TIME = 8
FETCH_LIMIT_S = 3_600.0
"""Seconds for one file, with all its tries."""
PAUSES_S = (1.0, 5.0, 15.0, 60.0)
"""The pauses after tries that brought nothing. After one more such try the import fails."""


class FileFetches:
    """The files that one process fetches. `arrived` is called when one is there."""

    def __init__(
        self,
        services: Services,
        arrived: Callable[[], None],
        *,
        look_up: LookUp = system_look_up,
        tls: SSLContext | None = None,
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:
        self._services, self._arrived, self._pauses_s = services, arrived, pauses_s
        self._look_up, self._tls = look_up, tls
        self._owner = services.ids.new("wrk")
        self._running: set[str] = set()
        self._uploads = Uploads(services.settings)

    async def look(self, tasks: TaskGroup) -> None:
        """Begins to fetch what waits, as far as there is room."""
        services, now_ms = self._services, self._services.clock.now_ms()
        if len(self._running) >= MOST_AT_A_TIME:
            return
        running = sorted(self._running)
        if not await services.database.read(_waits, self._owner, running, now_ms):
            return
        until_ms = now_ms + services.settings.deployment_lease_ms
        room = MOST_AT_A_TIME - len(running)
        for row in await services.database.write(_take, self._owner, running, room, now_ms, until_ms):
            self._running.add(row.id)
            tasks.start_soon(self._fetch, row)

    async def _fetch(self, row: Row[Any]) -> None:
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._renew, row.id)
                await self._work(row)
                tasks.cancel_scope.cancel()
        except* LeaseLost:
            log.warning("another process fetches the file of an import now", extra={"import_id": row.id})
        except* Exception as failed:  # nothing of an error is logged that could hold an address
            kinds = sorted({type(one).__name__ for one in failed.exceptions})
            log.error("fetching the file of an import failed: %s", ", ".join(kinds), extra={"import_id": row.id})
            await anyio.sleep(RETRY_S)
            await self._give_back(row.id)
        finally:
            self._running.discard(row.id)
        self._arrived()

    async def _give_back(self, import_id: str) -> None:
        try:
            await self._services.database.write(IMPORTS.release, import_id, self._owner)
        except Exception:  # the lease expires
            log.warning("giving back the lease of an import failed", extra={"import_id": import_id})

    async def _renew(self, import_id: str) -> None:
        database, lease_ms = self._services.database, self._services.settings.deployment_lease_ms
        while True:
            await anyio.sleep(lease_ms / 3 / SECOND)
            now_ms = self._services.clock.now_ms()
            if not await database.write(IMPORTS.renew, [import_id], self._owner, now_ms, now_ms + lease_ms, waits=True):
                raise LeaseLost(import_id)

    async def _work(self, row: Row[Any]) -> None:
        services = self._services
        if await services.database.write(expired, services, row.id, self._owner):
            await to_thread.run_sync(self._uploads.remove, row.id)
            return
        downloads = await to_thread.run_sync(importlib.import_module, f"{__package__}.downloads")
        reason = f"it was not there after {FETCH_LIMIT_S / 60:g} minutes."
        async with downloads.Downloads(
            services.settings.webhook_networks, look_up=self._look_up, tls=self._tls
        ) as open_downloads:
            with anyio.move_on_after(FETCH_LIMIT_S):
                reason = await self._tried(open_downloads, row)
        if reason is None:
            await services.database.write(_is_there, row.id, self._owner)
            return
        said = f"its file could not be fetched from {downloads.host_of(row.source_url)}: {reason}"
        await services.database.write(fail, services, row.id, self._owner, said)
        await to_thread.run_sync(self._uploads.remove, row.id)

    async def _tried(self, downloads: "Downloads", row: Row[Any]) -> str | None:
        """Tries until the file is there; else why it is not."""
        tag, failures, reason = row.source_tag, 0, ""
        most = self._services.settings.upload_max_bytes

        async def keep_tag(found: str | None) -> None:
            nonlocal tag
            tag = found
            await self._services.database.write(_keep_tag, row.id, self._owner, found)

        while failures <= len(self._pauses_s):
            before = self._uploads.size_of(row.id)
            try:
                with self._uploads.written(row.id) as file:
                    await downloads.fetch(row.source_url, file, tag=tag, most_bytes=most, keep_tag=keep_tag)
                return None
            except FetchRefused as refused:
                return str(refused)
            except StorageFull:
                return "The disk of the service has no room for it."
            except UploadBusy:
                reason = "Another process writes it."
            except FetchBroken as broken:
                reason = str(broken)
            grew = self._uploads.size_of(row.id) > before
            failures = 1 if grew else failures + 1
            if failures <= len(self._pauses_s):
                await anyio.sleep(self._pauses_s[failures - 1])
        return reason


def _waiting() -> Select[*tuple[Any, ...]]:
    waits = (_I.completed_at.is_(None), _I.source_url.is_not(None))
    return select(_I.id, _I.source_url, _I.source_tag).where(*waits).order_by(_I.created_at)


@brief
def _waits(connection: Connection, owner: str, running: Sequence[str], now_ms: int) -> bool:
    free = _waiting().where(_I.id.not_in(running), IMPORTS.free(connection, owner, now_ms)).limit(1)
    return connection.execute(free).first() is not None


def _take(
    connection: Connection, owner: str, running: Sequence[str], room: int, now_ms: int, until_ms: int
) -> Sequence[Row[Any]]:
    return IMPORTS.take(connection, _waiting().where(_I.id.not_in(running)).limit(room), owner, now_ms, until_ms)


def _keep_tag(connection: Connection, import_id: str, owner: str, tag: str | None) -> None:
    IMPORTS.mine(connection, import_id, owner)
    connection.execute(update(imports).where(_I.id == import_id).values(source_tag=tag))


def _is_there(connection: Connection, import_id: str, owner: str) -> None:
    """Lets the import begin, and forgets the address."""
    IMPORTS.mine(connection, import_id, owner)
    done = update(imports).where(_I.id == import_id)
    connection.execute(done.values(source_url=None, source_tag=None, **RELEASED))
