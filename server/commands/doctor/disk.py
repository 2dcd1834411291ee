"""The checks of `callwright doctor` on the disk: free space, the SQLite file, and the health check of the service."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from callwright.client.transport import httpx
from callwright.server.commands.doctor.checkup import CheckResult
from callwright.service.platform.database.sqlite.disk_space import LEAST_FREE, free_bytes
from callwright.service.tables.database_file import read_only

LITTLE_FREE = 1_000_000_000
"""Below this many free bytes there is a note."""
CHECK_LIMIT_S = 15.0
"""How long the check of the database may take; a large one takes minutes."""
_HEALTH_LIMIT_S = 10.0
_STEPS = 100_000
"""SQLite instructions between two checks of the clock."""
_MAKE_ROOM = "Make room, then resume the campaigns that were paused. See docs/full-disk.md."


def free_finding(folder: Path) -> CheckResult:
    """The free space at the data folder, or where it will be created."""
    free = free_bytes(next((place for place in (folder, *folder.parents) if place.exists()), folder))
    if free is None:
        return CheckResult("note", "Disk", "the free space cannot be read")
    said = f"{free / 1_000_000:,.0f} MB free"
    if free < LEAST_FREE:
        return CheckResult("bad", "Disk", f"full: {said}", help=_MAKE_ROOM)
    if free < LITTLE_FREE:
        return CheckResult("note", "Disk", said, help="On a full disk nothing is dialled. Make room.")
    return CheckResult("good", "Disk", said)


async def health_finding(base_url: str) -> CheckResult:
    """The health check of the service that runs on the folder."""
    try:
        async with httpx.AsyncClient(timeout=_HEALTH_LIMIT_S) as client:
            answer = await client.get(f"{base_url.removesuffix('/v1')}/healthz")
        said = answer.json()
        problems = said.get("problems", {})
        words = ", ".join(f"{part}: {what}" for part, what in sorted(problems.items())) or str(said["status"])
    except (httpx.HTTPError, ValueError, KeyError, AttributeError):
        return CheckResult("bad", "Health", "the health check does not answer, or not in JSON")
    if answer.status_code == 200:
        return CheckResult("good", "Health", words)
    return CheckResult("bad", "Health", words, help=_MAKE_ROOM if "storage" in problems else "")


def soundness(file: Path) -> CheckResult:
    """Whether SQLite finds damage in the file, in at most 15 seconds."""
    until = time.monotonic() + CHECK_LIMIT_S
    with closing(read_only(file)) as connection:
        connection.set_progress_handler(lambda: int(time.monotonic() > until), _STEPS)
        try:
            found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(5)")]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            said = f"no damage in what could be checked in {CHECK_LIMIT_S:g} s"
            return CheckResult("note", "Soundness", said, help="PRAGMA quick_check checks all of it.")
        except sqlite3.DatabaseError as error:  # too damaged to be read at all
            found = [str(error)]
    if found == ["ok"]:
        return CheckResult("good", "Soundness", "the database file is sound")
    said = f"the database file is damaged: {found[0]}"
    return CheckResult("bad", "Soundness", said, help="Stop the service and restore a copy: docs/backups.md.")
