"""The files beside an SQLite database file: its log, the index of that log, and the mark of another file."""

from pathlib import Path


def log_files(file: Path) -> tuple[Path, Path]:
    """The log of a database file, and the index of that log."""
    return Path(f"{file}-wal"), Path(f"{file}-shm")


def replaced_mark(file: Path) -> Path:
    """Says which database file a log belongs to, where another one was put in its place; empty if that is gone."""
    return Path(f"{file}-replaced")


def identity(device: int, inode: int) -> str:
    """What tells a file from others, as a mark holds it."""
    return f"{device} {inode}"
