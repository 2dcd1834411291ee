"""The files of uploads: one for each import, in a folder that the processes of a database share.

What has arrived is what the file holds, so it survives a crash of the process.
"""

import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

from callwright.service.platform.database.sqlite.disk_space import StorageFull, free_bytes, has_no_room
from callwright.service.settings import ServiceSettings

TOKEN_PREFIX = "upl_"
LEAST_LEFT = 64_000_000
"""Bytes of the disk that uploads leave free: the database may be on it too."""
_LEFT_S = 86_400
"""A file that was not changed for so long belongs to no import any more."""


class UploadBusy(RuntimeError):
    """Another request writes the same file."""


def hash_of(token: str) -> str:
    """What is stored of a token."""
    return sha256(token.encode()).hexdigest()


class Uploads:
    """The folder of uploads."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._folder = settings.data / "uploads"

    def path_of(self, import_id: str) -> Path:
        """Where the file of an import is, or would be."""
        return self._folder / import_id

    def made_folder(self) -> Path:
        """The folder, which only this user may read."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self._folder

    def check_room(self, size: int) -> None:
        """Raises `StorageFull` where so many bytes more would leave too little of the disk."""
        free = free_bytes(self._folder)
        if free is not None and free < LEAST_LEFT + size:
            raise StorageFull

    def size_of(self, import_id: str) -> int:
        """How many bytes have arrived."""
        try:
            return self.path_of(import_id).stat().st_size
        except FileNotFoundError:
            return 0

    @contextmanager
    def written(self, import_id: str) -> Generator["WrittenUpload"]:
        """The file, to write to. Raises `UploadBusy` if another request does."""
        lock = FileLock(self.made_folder() / f"{import_id}.lock", timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise UploadBusy from error
        try:
            path = self.path_of(import_id)
            file = WrittenUpload(os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b"), path, self)
            try:
                yield file
            finally:
                file.close()
        finally:
            lock.release()

    def remove(self, import_id: str) -> None:
        """Removes the file of an import that has ended."""
        for name in (import_id, f"{import_id}.new", f"{import_id}.lock"):
            path = self._folder / name
            with suppress(OSError):
                path.unlink()

    def remove_old(self) -> None:
        """Removes files whose imports were removed, or whose process died before it removed them."""
        for path in self._folder.glob("imp_*"):
            with suppress(OSError):
                if path.stat().st_mtime < time.time() - _LEFT_S:
                    path.unlink()


class WrittenUpload:
    """A file that is being written, at its end."""

    def __init__(self, file: BinaryIO, path: Path, uploads: Uploads) -> None:
        self._file, self._path, self._uploads = file, path, uploads
        self._older: BinaryIO | None = None
        self.size = file.seek(0, os.SEEK_END)

    @property
    def _newer(self) -> Path:
        return self._path.with_name(f"{self._path.name}.new")

    def begin_anew(self) -> None:
        """From here on another file is written, from its first byte. The older one stays until `keep`."""
        handle = os.open(self._newer, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        self._older, self._file, self.size = self._file, os.fdopen(handle, "r+b"), 0

    def take_back(self, size: int) -> None:
        """Takes back what was written since the file had `size` bytes, and a file that was begun anew as a whole."""
        if self._older is None:
            self._cut(size)
            return
        self._file.close()
        self._newer.unlink(missing_ok=True)
        self._file, self._older = self._older, None
        self.size = self._file.seek(0, os.SEEK_END)

    def close(self) -> None:
        """Ends the writing. A file that was begun anew and not kept is gone."""
        if self._older is not None:
            self.take_back(0)
        self._file.close()

    def append(self, data: bytes) -> None:
        """Adds bytes. Raises `StorageFull`."""
        self._uploads.check_room(len(data))
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            if has_no_room(error):
                raise StorageFull from error
            raise
        self.size += len(data)

    def _cut(self, size: int) -> None:
        self._file.seek(size)
        self._file.truncate()
        self.size = size

    def keep(self) -> None:
        """Has the disk hold what was written, so that no crash of the machine takes it back. A file that was begun anew
        takes the place of the older one.
        """
        os.fsync(self._file.fileno())
        if self._older is not None:
            self._older.close()
            self._file.close()
            self._newer.replace(self._path)
            self._older, self._file = None, self._path.open("r+b")
            self.size = self._file.seek(0, os.SEEK_END)
