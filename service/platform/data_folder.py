"""The data folder of the embedded default: who serves it, at which address, and the key for it.

On SQLite one process serves a folder; it holds the lock. Other processes of the same person find its address here. The
files are readable by their owner alone.
"""

import errno
import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from filelock import FileLock, Timeout

LOCK = "service.lock"
ADDRESS = "service.json"
KEY = "embedded.key"


class DataFolderInUse(RuntimeError):
    """Another process serves this data folder."""


@dataclass(frozen=True)
class Address:
    """The address of the process that serves the folder."""

    base_url: str
    pid: int


class DataFolder:
    """A data folder. Holds are counted: each `hold` needs its own `let_go`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = FileLock(path / LOCK, thread_local=False, is_singleton=True)

    def hold(self) -> None:
        """Makes this process the one that serves the folder. Raises `DataFolderInUse`."""
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise DataFolderInUse(f"another process serves the data folder {self.path}") from error
        if self._lock.lock_counter == 1:  # the process that announced an address is gone; nothing may be sent there
            (self.path / ADDRESS).unlink(missing_ok=True)

    def is_held(self) -> bool:
        """Whether some process serves the folder now, announced or not. Creates no file."""
        if not (self.path / LOCK).exists():
            return False
        try:
            with FileLock(self.path / LOCK, timeout=0, is_singleton=False):
                return False
        except Timeout:
            return True

    def let_go(self) -> None:
        """Leaves the folder to the next process."""
        self._lock.release()

    def announce(self, base_url: str) -> bool:
        """Stores the address at which this process answers; false if the disk is too full."""
        said = {"base_url": base_url, "pid": os.getpid(), "host": socket.gethostname()}
        try:
            self._write(ADDRESS, json.dumps(said))
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            return False
        return True

    def withdraw(self) -> None:
        """Removes the address, if it is this process's own."""
        said = self._said()
        if (said.get("pid"), said.get("host")) == (os.getpid(), socket.gethostname()):
            (self.path / ADDRESS).unlink(missing_ok=True)

    def address(self) -> Address | None:
        """The address that the folder's service has announced, if any."""
        said = self._said()
        try:
            return Address(str(said["base_url"]), int(said["pid"]))
        except (ValueError, KeyError, TypeError):
            return None

    def _said(self) -> dict[str, Any]:
        try:
            said = json.loads((self.path / ADDRESS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return cast("dict[str, Any]", said) if isinstance(said, dict) else {}

    def key(self) -> str | None:
        """The embedded default's API key, once there is one."""
        try:
            return (self.path / KEY).read_text(encoding="utf-8").strip() or None
        except OSError:
            return None

    def keep_key(self, secret: str) -> None:
        self._write(KEY, secret + "\n")

    def _write(self, name: str, text: str) -> None:
        """Writes a file as a whole or not at all."""
        temporary = self.path / f".{name}.{os.getpid()}"
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            temporary.replace(self.path / name)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
