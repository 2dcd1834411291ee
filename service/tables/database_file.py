"""Checks the file of an SQLite database before it is opened: whether it is Callwright's, and the expected one."""

import os
import re
import sqlite3
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from callwright.service.platform.data_folder import KEY
from callwright.service.platform.database.sqlite.log_files import identity, log_files, replaced_mark
from callwright.service.platform.database.unavailable import DatabaseUnusable
from callwright.service.tables.schema import metadata

RECORDINGS, LINE_RECORDINGS = "recordings", "line-recordings"
BUSY_S = 2.0
"""How long reading waits for another process."""
_COPY = "Put the database, or a copy of it, back in its place (docs/backups.md)."
_FIRST = frozenset({"organizations", "wallets", "service_state", "idempotency_keys"})
"""Tables that exist since the first schemas."""
_OURS = re.compile("[0-9]{4}")
"""The form of Callwright's schema numbers."""
_EFFECTIVE = os.access in os.supports_effective_ids


def check_database(folder: Path, file: Path) -> None:
    """Checks that the SQLite database of a folder is in its place; a new folder has none. Changes nothing.

    A file that cannot be read is not reported here, but by the code that opens it.

    Raises:
        DatabaseUnusable: the file is missing or empty although the folder was in use; or it is another program's, or
            cannot be written to; or the log beside it belongs to an earlier content of the file.
    """
    for path in (file, *log_files(file)):
        if path.is_file() and not os.access(path, os.W_OK, effective_ids=_EFFECTIVE):
            raise DatabaseUnusable(
                f"{path} cannot be written to. Run Callwright as its owner, or let whoever runs it write the file."
            )
    log, mark = log_files(file)[0], replaced_mark(file)
    if mark.exists() and log.exists() and log.stat().st_size and mark.read_text(encoding="ascii") != _identity(file):
        raise DatabaseUnusable(
            f"{file} was removed, replaced or written over while the service ran, and {log.name} belongs to what it "
            f"held before. Remove {log.name} and {file.name}-shm and put a copy in its place (docs/backups.md). Only "
            f"if it is the file that was there, remove {mark.name} alone: then nothing is lost."
        )
    state = _lack(file)
    used = _traces(folder, file)
    if state is None or not used:
        return
    names = " and ".join(str(path) for path in used)
    raise DatabaseUnusable(
        f"{file} {state}, but this folder has been in use: {used[0].name} is there. {_COPY} To begin anew with "
        f"nothing, remove {names} first."
    )


def check_tables(tables: Collection[str], where: str) -> None:
    """Checks the tables of a database without a schema number.

    Raises:
        DatabaseUnusable: some have the names of Callwright's tables, so these cannot be created.
    """
    taken = sorted(metadata.tables.keys() & set(tables))
    if not taken:
        return
    if set(tables) >= _FIRST:
        raise DatabaseUnusable(
            f"{where} has Callwright's tables, but does not say at which schema it stands: alembic_version is missing "
            f"or empty. {_COPY}"
        )
    raise DatabaseUnusable(
        f"{where} is another program's: it has a table {taken[0]}. Give another --data or --database."
    )


def read_only(file: Path) -> sqlite3.Connection:
    """A read-only connection that creates no files. On a full disk it reads the file alone, if there is no log."""
    place = f"file:{quote(str(file))}?mode=ro"
    connection = sqlite3.connect(place, uri=True, timeout=BUSY_S)
    try:
        connection.execute("SELECT 1 FROM sqlite_master").close()
    except sqlite3.OperationalError:
        connection.close()
        log = Path(f"{file}-wal")
        if log.exists() and log.stat().st_size:
            raise
        return sqlite3.connect(f"{place}&immutable=1", uri=True)
    return connection


def _identity(file: Path) -> str | None:
    if not file.exists():
        return None
    found = file.stat()
    return identity(found.st_dev, found.st_ino)


def _lack(file: Path) -> str | None:
    """Why the file contains no database, in words; None if it contains one."""
    if not file.exists():
        return "is missing"
    if not file.is_file():
        return None
    if not file.stat().st_size:
        return "is empty"
    try:
        with closing(read_only(file)) as connection:
            tables = {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if "alembic_version" in tables:
                row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
                if row is not None and _OURS.fullmatch(str(row[0])):
                    return None
                if row is None:
                    tables.remove("alembic_version")
    except sqlite3.Error:
        return None
    if tables >= _FIRST:
        check_tables(tables, str(file))
    if tables:
        raise DatabaseUnusable(
            f"{file} is a database of another program: its tables are not Callwright's. Move it away, or give another "
            f"--data or --database. If Callwright's was there before, put a copy of it in its place (docs/backups.md)."
        )
    return "has no tables"


def _traces(folder: Path, file: Path) -> list[Path]:
    """The files which show that there was a database."""
    log = log_files(file)[0]
    left = [log] if not file.exists() and log.exists() and log.stat().st_size else []
    if file.parent.resolve() != folder.resolve():
        return left
    return [path for path in (folder / KEY, folder / RECORDINGS, folder / LINE_RECORDINGS) if path.exists()] + left
