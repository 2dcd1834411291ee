"""The files beside an SQLite database file: its log, the index of that log, and the mark of another file."""

from pathlib import Path


def log_files(file: Path) -> tuple[Path, Path]:
    """The log of a database file, and the index of that log."""
    return Path(f"{file}-wal"), Path(f"{file}-shm")


def replaced_mark(file: Path) -> Path:
    """The file that names the database file of a log after that file was replaced; empty if it was overwritten."""
    return Path(f"{file}-replaced")


def identity(device: int, inode: int) -> str:
    """The identity of a file, as it is written into a mark."""
    return f"{device} {inode}"
