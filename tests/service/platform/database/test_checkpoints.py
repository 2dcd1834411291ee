"""SQLite's log is moved into the file beside the transactions, and stays short."""

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import anyio
import pytest
from sqlalchemy import Connection, insert

from callwright.service.platform.database.database import Database
from callwright.service.platform.database.sqlite import checkpoints
from callwright.service.tables.migrations.upgrade import upgrade
from callwright.service.tables.schema import service_state

WRITES, ROWS = 60, 300
"""More rows in a write than are changed between two checkpoints at first."""
WITHIN_S = 30


def put(connection: Connection, write: int) -> None:
    rows = [{"name": f"{write}-{row}", "value": "x" * 500} for row in range(ROWS)]
    connection.execute(insert(service_state), rows)


async def test_writes_are_committed_while_the_log_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path / 'callwright.db'}"
    upgrade(url)
    goes_on, moves = threading.Event(), anyio.Event()
    async with Database.opened(url, checkpoints=True) as database:
        writing = database.file_guard.writing

        @contextmanager
        def held() -> Generator[None]:
            anyio.from_thread.run_sync(moves.set)
            assert goes_on.wait(WITHIN_S)
            with writing():
                yield

        monkeypatch.setattr(database.file_guard, "writing", held)
        with anyio.fail_after(WITHIN_S):
            await database.write(put, 0)
            await moves.wait()
            await database.write(put, 1)
        goes_on.set()
    with closing(sqlite3.connect(tmp_path / "callwright.db")) as kept:
        assert kept.execute("SELECT count(*) FROM service_state WHERE value LIKE 'x%'").fetchone() == (2 * ROWS,)


async def test_the_log_is_begun_anew_while_writes_never_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "PAGES", 50)
    monkeypatch.setattr(checkpoints, "LONG_PAGES", 200)
    file = tmp_path / "callwright.db"
    upgrade(f"sqlite:///{file}")
    longest = 0
    async with Database.opened(f"sqlite:///{file}", checkpoints=True) as database:
        for write in range(WRITES):
            await database.write(put, write)
            longest = max(longest, os.stat(f"{file}-wal").st_size)
        assert longest < os.stat(file).st_size / 3
