"""Files that tools may read and make: those in the folders that were named when the program was started, no others.

Only a server on stdio has such folders: there the files belong to the person who started it.
"""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from mcp.server.mcpserver.exceptions import ToolError

MOST_BYTES = 2_000_000_000
"""As much as a service takes by default."""

_EXISTS = "is there already; ask the person, then call again with overwrite=true, or with another name"
_SAFE = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = _SAFE | getattr(os, "O_DIRECTORY", 0)
_STAY = getattr(os, "O_NOFOLLOW", 0)
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
"""Without it, opening a pipe would wait for a writer."""


_BY_FOLDER = {os.open, os.stat, os.link, os.unlink, os.rename} <= os.supports_dir_fd
"""Whether the system opens a file by its folder, so that nobody can swap that for a link meanwhile."""


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

    def created(self, path: str, *, overwrites: bool, tag: str) -> "NewFile":
        """Begins a file at an absolute path, or a path relative to one of the folders. Its folder must be there.

        Until it is whole its bytes are in a file beside it, whose name ends with `.part` and holds the `tag`.

        Raises:
            ToolError: it would lie outside the folders, there is no such folder, or something else has its name: an
                ordinary file is replaced if `overwrites`.
        """
        name = os.path.basename(path)
        if "\x00" in path:
            raise _refused("holds the character NUL")
        if name in ("", ".", ".."):
            raise _refused("names no file")
        root, folder = self._found(os.path.dirname(path) or ".", "folder")
        try:
            at = _Place(folder, _folder(root, folder.relative_to(root).parts) if _BY_FOLDER else None)
        except OSError as error:
            raise _refused(f"cannot be written: {error.strerror or 'its folder is not there'}") from error
        try:
            return NewFile(at, name, f"{name}.{tag}.part", overwrites=overwrites)
        except OSError as error:
            at.close()
            raise _refused(f"cannot be written: {error.strerror or error}") from error
        except BaseException:
            at.close()
            raise

    def _found(self, path: str, what: str = "file") -> tuple[Path, Path]:
        """The folder, and the real path of the file or folder in it, with links resolved."""
        if "\x00" in path:
            raise _refused("holds the character NUL")
        places = [Path(os.path.realpath(root / path)) for root in self.roots]  # an absolute path replaces the root
        inside = {place: root for place in places for root in self.roots if place.is_relative_to(root)}
        if not inside:
            raise _refused(f"lies outside of the folders {self}")
        there = {place: root for place, root in inside.items() if os.path.lexists(place)}
        if len(there) > 1:
            raise _refused("is in more than one folder; give the whole path")
        if not there:
            raise _refused(f"there is no such {what} in {self}")
        place, root = next(iter(there.items()))
        return root, place


@dataclass(frozen=True)
class _Place:
    """A folder: by its descriptor, or where the system does not know that, by its path."""

    path: Path
    descriptor: int | None

    def name(self, name: str) -> str:
        return name if self.descriptor is not None else str(self.path / name)

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)


class NewFile:
    """A file that is being written. It has its name only once it is whole. End it with `keep` or `drop`."""

    def __init__(self, place: _Place, name: str, partial: str, *, overwrites: bool) -> None:
        self._place, self._name, self._partial, self._overwrites = place, name, partial, overwrites
        self._check_free()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _STAY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        self._file = os.fdopen(os.open(place.name(partial), flags, 0o600, dir_fd=place.descriptor), "wb")
        self.path = place.path / name
        self.size = 0
        self._is_ended = False

    def write(self, data: bytes) -> None:
        """Adds bytes. Raises OSError."""
        self._file.write(data)
        self.size += len(data)

    def keep(self) -> None:
        """Gives the file its name. Raises `ToolError` if something else has it by now, or OSError; then it is gone."""
        at, here, there = self._place.descriptor, self._place.name(self._partial), self._place.name(self._name)
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._check_free()
            if self._overwrites:
                os.replace(here, there, src_dir_fd=at, dst_dir_fd=at)
            else:
                self._named_first(here, there, at)
        except BaseException:
            self.drop()
            raise
        self._end()

    def _named_first(self, here: str, there: str, at: int | None) -> None:
        """Renames, but never over a file that came meanwhile, as far as the file system can tell."""
        try:
            os.link(here, there, src_dir_fd=at, dst_dir_fd=at)
        except FileExistsError as error:
            raise _refused(_EXISTS) from error
        except OSError:  # a file system without links
            os.rename(here, there, src_dir_fd=at, dst_dir_fd=at)
        else:
            os.unlink(here, dir_fd=at)

    def drop(self) -> None:
        """Removes what was written. Does nothing once the file is kept or dropped."""
        if self._is_ended:
            return
        with suppress(OSError):
            os.unlink(self._place.name(self._partial), dir_fd=self._place.descriptor)
        self._end()

    def _end(self) -> None:
        self._is_ended = True
        with suppress(OSError):  # what could not be written is not wanted any more
            self._file.close()
        self._place.close()

    def _check_free(self) -> None:
        name, at = self._place.name(self._name), self._place.descriptor
        try:
            there = os.stat(name, dir_fd=at, follow_symlinks=False)
        except FileNotFoundError:
            return
        if not stat.S_ISREG(there.st_mode):
            raise _refused("is there already and is no ordinary file")
        if not self._overwrites:
            raise _refused(_EXISTS)


def _descriptor(root: Path, real: Path) -> int:
    """Opens each folder from the root on and follows no link, so that nobody can swap a folder for a link meanwhile."""
    *folders, name = real.relative_to(root).parts or (".",)
    if not _BY_FOLDER:
        return os.open(real, _SAFE | _STAY | _AT_ONCE)
    at = _folder(root, folders)
    try:
        return os.open(name, _SAFE | _STAY | _AT_ONCE, dir_fd=at)
    finally:
        os.close(at)


def _folder(root: Path, folders: Iterable[str]) -> int:
    """Opens a folder, one after the other from the root on, and follows no link."""
    at = os.open(root, _FOLDER)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER | _STAY, dir_fd=at)
            os.close(at)
            at = inner
    except OSError:
        os.close(at)
        raise
    return at


def _wrong(status: os.stat_result) -> str | None:
    if not stat.S_ISREG(status.st_mode):
        return "is no ordinary file"
    if status.st_size > MOST_BYTES:
        return f"is larger than {MOST_BYTES // 1_000_000_000} GB; cut it in pieces"
    return None if status.st_size else "is empty"


def _refused(what: str) -> ToolError:
    return ToolError(f"Invalid arguments: path: {what}.")
