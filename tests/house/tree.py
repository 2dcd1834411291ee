"""The files of the repository, as the tests about the repository itself read them."""

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("appearance", "list_files", "contract", "client", "tools", "prompts", "server", "service")
MODULES = tuple(f"callwright.{name}" for name in PACKAGES)


def files() -> Iterator[Path]:
    """Every file that belongs to the repository, committed or not: all but what `.gitignore` leaves out.

    Reads only the patterns in use there, names of folders and files.
    """
    ignored = [line.strip().rstrip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()]
    ignored = [".git", *(pattern for pattern in ignored if pattern and not pattern.startswith("#"))]

    def kept(name: str) -> bool:
        return not any(fnmatch(name, pattern) for pattern in ignored)

    for folder, subfolders, names in os.walk(ROOT):
        subfolders[:] = sorted(filter(kept, subfolders))
        yield from (Path(folder) / name for name in sorted(filter(kept, names)))


def texts() -> Iterator[tuple[str, str]]:
    """Path below the root, and content, of each file that is text."""
    for path in files():
        try:
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
