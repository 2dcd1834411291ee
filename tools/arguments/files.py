"""Files that tools may read: those in the folders that were named when the program was started, and no others.

Only a server on stdio has such folders: there the files belong to the person who started it.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from mcp.server.mcpserver.exceptions import ToolError

MOST_BYTES = 200_000_000

_SAFE = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = _SAFE | getattr(os, "O_DIRECTORY", 0)
_STAY = getattr(os, "O_NOFOLLOW", 0)
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
"""Without it, opening a pipe would wait for a writer."""


class Folders:
    """The folders. Creating it raises `OSError` if one cannot be found."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.roots = tuple(dict.fromkeys(path.resolve(strict=True) for path in paths))

    def __str__(self) -> str:
        return ", ".join(map(str, self.roots))

    def opened(self, path: str) -> BinaryIO:
        """Opens the file at an absolute path, or a path relative to one of the folders. Links inside them are followed.

        Raises:
            ToolError: there is no such file, it lies outside the folders, is not a regular file, is empty or too large.
        """
        root, real = self._found(path)
        try:
            descriptor = _descriptor(root, real)
        except OSError as error:
            raise _refused(f"cannot be opened: {error.strerror or 'it is not there'}") from error
        wrong = _wrong(os.fstat(descriptor))
        if wrong is not None:
            os.close(descriptor)
            raise _refused(wrong)
        return os.fdopen(descriptor, "rb")

    def _found(self, path: str) -> tuple[Path, Path]:
        """The folder, and the real path of the file in it, with links resolved."""
        if "\x00" in path:
            raise _refused("holds the character NUL")
        places = [Path(os.path.realpath(root / path)) for root in self.roots]  # an absolute path replaces the root
        inside = {place: root for place in places for root in self.roots if place.is_relative_to(root)}
        if not inside:
            raise _refused(f"lies outside of the folders that may be read: {self}")
        there = {place: root for place, root in inside.items() if os.path.lexists(place)}
        if len(there) > 1:
            raise _refused("is in more than one folder; give the whole path")
        if not there:
            raise _refused(f"there is no such file in {self}")
        place, root = next(iter(there.items()))
        return root, place


def _descriptor(root: Path, real: Path) -> int:
    """Opens each folder from the root on and follows no link, so that nobody can swap a folder for a link meanwhile."""
    *folders, name = real.relative_to(root).parts or (".",)
    if os.open not in os.supports_dir_fd:
        return os.open(real, _SAFE | _STAY | _AT_ONCE)
    at = os.open(root, _FOLDER)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER | _STAY, dir_fd=at)
            os.close(at)
            at = inner
        return os.open(name, _SAFE | _STAY | _AT_ONCE, dir_fd=at)
    finally:
        os.close(at)


def _wrong(status: os.stat_result) -> str | None:
    if not stat.S_ISREG(status.st_mode):
        return "is no ordinary file"
    if status.st_size > MOST_BYTES:
        return f"is larger than {MOST_BYTES // 1_000_000} MB; cut it in pieces"
    return None if status.st_size else "is empty"


def _refused(what: str) -> ToolError:
    return ToolError(f"Invalid arguments: path: {what}.")
