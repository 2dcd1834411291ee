"""Tables as files: written page by page, each page in a unit of work of its own, then sent and removed.

A file has a length, a tag and parts, as recordings have, and one that cannot be written to its end is not sent at all.
"""

import hashlib
import os
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio import to_thread
from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send

from callwright.service.handlers.request_context import TableRequest
from callwright.service.platform.database.database import Database
from callwright.service.rest.tables.pieces import pieces_of

_LEFT_S = 86_400
"""A file that is older was left by a process that died."""
_PREFIX = "table-"


@dataclass(frozen=True)
class TableFile:
    """A finished file. `etag` is an HTTP entity tag with its quotes, `size` is in bytes."""

    path: Path
    etag: str
    size: int


class SentOnce(FileResponse):
    """Sends a file and removes it, whether or not it arrived."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            remove(Path(self.path))


async def write_table(database: Database, wanted: TableRequest, folder: Path) -> TableFile:
    """Writes a table into a new file of a folder.

    Raises:
        OSError: it cannot be written. Nothing of it is left.
    """
    path = await to_thread.run_sync(_new_file, folder)
    digest, size = hashlib.sha256(), 0
    try:
        async with await anyio.open_file(path, "wb") as file:
            async for written in pieces_of(database, wanted):
                digest.update(written)
                size += len(written)
                await file.write(written)
    except BaseException:
        remove(path)
        raise
    return TableFile(path, f'"{digest.hexdigest()[:32]}"', size)


def remove(path: Path) -> None:
    """Removes a file that may be gone already."""
    with suppress(OSError):
        path.unlink()


def _new_file(folder: Path) -> Path:
    """A new file, readable by its owner alone."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for left in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if left.stat().st_mtime < time.time() - _LEFT_S:
                left.unlink()
    handle, name = tempfile.mkstemp(prefix=_PREFIX, suffix=".csv", dir=folder)
    os.close(handle)
    return Path(name)
