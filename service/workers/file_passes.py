"""Passes over the file of an import, each of which can be stopped and says how far it is.

A file is read in a thread, which nothing can end from outside. So the thread looks at each block whether its work was
cancelled: the service ends, the audience or the import is gone, or another process has the lease. The lease is renewed
beside it, however long a block takes.
"""

import io
from collections.abc import Awaitable, Callable
from typing import BinaryIO

import anyio
from anyio import from_thread
from sqlalchemy import Connection

from callwright.list_files.packed import is_packed
from callwright.service.platform.clock.clock import SECOND
from callwright.service.platform.database.postgres.lock_waits import Locked
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.services import Services
from callwright.service.workers.import_records import expired, renew

_BLOCK_BYTES = 65_536
_PACKED_BLOCK_BYTES = 1_024
"""A block of gzip holds a thousand times its size at most, so that a thread looks up after each megabyte."""
_ZIP = b"PK"


class Progress:
    """How much of an import is done before its first row is taken, in percent of the whole import. It never shrinks."""

    def __init__(self, percent: int = 0) -> None:
        self.percent = percent
        self._begin = self._end = percent

    def between(self, begin: int, end: int) -> None:
        """What follows leads from one percentage to another."""
        self._begin, self._end = begin, end

    def has_done(self, share: float) -> None:
        """So much of that is done, from 0 to 1."""
        reached = self._begin + int((self._end - self._begin) * min(share, 1.0))
        self.percent = max(self.percent, reached)


def watched(file: BinaryIO, progress: Progress) -> BinaryIO:
    """The file, to be read in a thread of the event loop: reading it ends when the task that waits for the thread is
    cancelled, and counts as progress.
    """
    file.seek(0)
    begin = file.read(2)
    if is_packed(begin):
        return _WatchedFile(file, progress, _PACKED_BLOCK_BYTES)  # pyright: ignore[reportReturnType]  # gzip takes short reads
    size = _PACKED_BLOCK_BYTES if begin == _ZIP else _BLOCK_BYTES
    return io.BufferedReader(_WatchedFile(file, progress, size), size)


class _WatchedFile(io.RawIOBase):
    def __init__(self, file: BinaryIO, progress: Progress, block: int) -> None:
        super().__init__()
        self._file, self._progress, self._block = file, progress, block
        self._size = max(file.seek(0, io.SEEK_END), 1)
        file.seek(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]  # typeshed's Buffer needs Python 3.12
        from_thread.check_cancelled()
        data = self._file.read(min(len(buffer), self._block))
        buffer[: len(data)] = data
        self._progress.has_done(self._file.tell() / self._size)
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


async def while_kept(
    services: Services, import_id: str, owner: str, progress: Progress, work: Callable[[], Awaitable[None]]
) -> None:
    """Runs `work` while the owner has the lease of an import, which is renewed in thirds of its time. The work is
    cancelled where the import has become too old, and fails then.

    Raises:
        LeaseLost: another process works on it, or it has ended or was deleted; the work was cancelled.
    """
    raised: list[Exception] = []

    async def keep() -> None:
        try:
            await _keep(services, import_id, owner, progress)
        except Exception as error:  # kept until the work has ended, so that it is raised as it is
            raised.append(error)
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keep)
        try:
            await work()
        except Exception as error:
            raised.append(error)
        tasks.cancel_scope.cancel()
    if raised:
        raise raised[0]


async def _keep(services: Services, import_id: str, owner: str, progress: Progress) -> None:
    while True:
        await anyio.sleep(services.settings.deployment_lease_ms / 3 / SECOND)
        try:
            if await services.database.write(_renew, services, import_id, owner, progress):
                return
        except (StorageUnavailable, Locked):
            pass  # if it lasts, the lease expires


def _renew(connection: Connection, services: Services, import_id: str, owner: str, progress: Progress) -> bool:
    """Renews the lease; whether the import is too old and has failed."""
    if expired(connection, services, import_id, owner):
        return True
    renew(connection, services, import_id, owner, read_percent=progress.percent)
    return False
