"""A copy of a file, so that what is checked is what is sent, even if another program writes to the file."""

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import BinaryIO, cast

from callwright.list_files.unreadable import UnreadableList
from callwright.tools.arguments.files import MOST_BYTES, Folders

_CHUNK_BYTES = 1_000_000
_IN_MEMORY_BYTES = 8_000_000
"""A larger file is copied into a temporary one, which has no name and is deleted when it is closed."""


@dataclass(frozen=True)
class FileCopy:
    """A copy of a file. Close it after use."""

    bytes: BinaryIO
    size: int
    digest: str
    """SHA-256 of all of it."""

    def __enter__(self) -> "FileCopy":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.bytes.close()


def copied(folders: Folders, path: str) -> FileCopy:
    """Reads a file of the folders once, from beginning to end, and keeps a copy.

    Raises:
        ToolError: there is no such file, or it may not be read.
        UnreadableList: it has grown too large meanwhile, or the disk fails.
    """
    digest, size = hashlib.sha256(), 0
    with ExitStack() as stack:
        copy = stack.enter_context(SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES))
        try:
            with folders.opened(path) as file:
                while chunk := file.read(_CHUNK_BYTES):
                    size += len(chunk)
                    if size > MOST_BYTES:
                        raise UnreadableList(f"it is larger than {MOST_BYTES // 1_000_000_000} GB; cut it in pieces")
                    digest.update(chunk)
                    copy.write(chunk)
        except OSError as error:
            raise UnreadableList(f"it cannot be read: {error.strerror or error}") from error
        stack.pop_all()
    return FileCopy(cast("BinaryIO", copy), size, digest.hexdigest())
