"""How `callwright doctor` looks at the disk: free room, a sound SQLite file, and what the service says of itself."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from callwright.client.transport import httpx
from callwright.server.commands.doctor.checkup import CheckResult
from callwright.service.platform.database.sqlite.fullness import LEAST_FREE, free_bytes
from callwright.service.tables.database_file import read_only

LITTLE_FREE = 1_000_000_000
"""Bytes: with less there is a note."""
CHECK_LIMIT_S = 15.0
"""How long the check of the database may take: a large one takes minutes."""
_HEALTH_LIMIT_S = 10.0
_STEPS = 100_000
"""Instructions of SQLite's machine between two looks at the clock."""
_MAKE_ROOM = "Make room, then resume the campaigns that were paused. See docs/full-disk.md."


def free_finding(folder: Path) -> CheckResult:
    """How much room there is for the data folder, or where it will be made."""
    free = free_bytes(next((place for place in (folder, *folder.parents) if place.exists()), folder))
    if free is None:
        return CheckResult(state="note", what="Disk", said="how much is free cannot be told")
    said = f"{free / 1_000_000:,.0f} MB free"
    if free < LEAST_FREE:
        return CheckResult(state="bad", what="Disk", said=f"full: {said}", help=_MAKE_ROOM)
    if free < LITTLE_FREE:
        return CheckResult(state="note", what="Disk", said=said, help="When it is full nothing is dialled. Make room.")
    return CheckResult(state="good", what="Disk", said=said)


async def health_finding(base_url: str) -> CheckResult:
    """What the service that runs on the folder says of itself."""
    try:
        async with httpx.AsyncClient(timeout=_HEALTH_LIMIT_S) as client:
            answer = await client.get(f"{base_url.removesuffix('/v1')}/healthz")
        said = answer.json()
        problems = said.get("problems", {})
        words = ", ".join(f"{part}: {what}" for part, what in sorted(problems.items())) or str(said["status"])
    except (httpx.HTTPError, ValueError, KeyError, AttributeError):
        return CheckResult(state="bad", what="Health", said="its health check gives no answer that can be read")
    if answer.status_code == 200:
        return CheckResult(state="good", what="Health", said=words)
    return CheckResult(state="bad", what="Health", said=words, help=_MAKE_ROOM if "storage" in problems else "")


def soundness(file: Path) -> CheckResult:
    """Whether SQLite finds the file sound, as far as it comes in some seconds."""
    until = time.monotonic() + CHECK_LIMIT_S
    with closing(read_only(file)) as connection:
        connection.set_progress_handler(lambda: int(time.monotonic() > until), _STEPS)
        try:
            found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(5)")]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            said = f"nothing wrong in what could be checked in {CHECK_LIMIT_S:g} s"
            return CheckResult(state="note", what="Soundness", said=said, help="PRAGMA quick_check looks at all of it.")
        except sqlite3.DatabaseError as error:  # so damaged that not even that can be read
            found = [str(error)]
    if found == ["ok"]:
        return CheckResult(state="good", what="Soundness", said="the database file is sound")
    said = f"the database file is damaged: {found[0]}"
    return CheckResult(
        state="bad", what="Soundness", said=said, help="Stop the service and restore a copy: docs/backups.md."
    )
