"""The files beside an SQLite database file: its log, the index of that log, and the mark of another file."""

from pathlib import Path


def log_files(file: Path) -> tuple[Path, Path]:
    """The log of a database file, and the index of that log."""
    return Path(f"{file}-wal"), Path(f"{file}-shm")


def begins_as_log(log_file: str) -> bool:
    """Whether a file has the first bytes of a log (sqlite.org/fileformat2.html, 4.1)."""
    try:
        with open(log_file, "rb", buffering=0) as file:  # only the index of the log has locks that closing drops
            return file.read(3) == b"\x37\x7f\x06"
    except OSError:
        return False


def number_of_log(file: Path) -> bytes:
    """How often the log of a database file was begun anew, as its header says (sqlite.org/fileformat2.html, 4.1)."""
    try:
        with open(log_files(file)[0], "rb", buffering=0) as log:
            return log.read(16)[12:]
    except OSError:
        return b""


def replaced_mark(file: Path) -> Path:
    """The file that names the database file of a log after that file was replaced; empty if it was overwritten."""
    return Path(f"{file}-replaced")


def identity(device: int, inode: int) -> str:
    """The identity of a file, as it is written into a mark."""
    return f"{device} {inode}"
