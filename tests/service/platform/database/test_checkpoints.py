"""SQLite's log is moved into the file beside the transactions, and stays short."""

import sqlite3
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

import anyio
import pytest
from anyio import to_thread
from anyio.abc import TaskGroup
from sqlalchemy import Connection, insert

from callwright.service.platform.database.database import Database
from callwright.service.platform.database.sqlite import checkpoints
from callwright.service.platform.database.sqlite.checkpoints import Checkpoints
from callwright.service.platform.database.sqlite.log_files import number_of_log
from callwright.service.tables.migrations.upgrade import upgrade
from callwright.service.tables.schema import service_state

WRITES, ROWS, ANEW = 60, 300, 2
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


async def test_a_long_log_is_begun_anew_although_a_write_ends_during_each_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "PAGES", 50)
    monkeypatch.setattr(checkpoints, "LONG_PAGES", 200)
    file = tmp_path / "callwright.db"
    upgrade(f"sqlite:///{file}")
    beside, begun, committed, moved = (threading.Event() for _ in range(4))
    moved.set()
    move_if_due = Checkpoints.move_if_due

    class Beside:
        """Notes that the log is moved beside the next writes."""

        def __init__(self, tasks: TaskGroup) -> None:
            self._tasks = tasks

        def start_soon(self, move: Callable[..., Coroutine[None, None, None]], *arguments: object) -> None:
            begun.clear()
            committed.clear()
            moved.clear()
            beside.set()
            self._tasks.start_soon(move, *arguments)

    async def noted(self: Checkpoints, connection: Connection, tasks: TaskGroup) -> None:
        await move_if_due(self, connection, cast("TaskGroup", Beside(tasks)))

    monkeypatch.setattr(Checkpoints, "move_if_due", noted)
    async with Database.opened(f"sqlite:///{file}", checkpoints=True) as database:
        writing = database.file_guard.writing

        @contextmanager
        def overtaken() -> Generator[None]:
            """While the log is moved beside writes, somebody reads the state before the last of them."""
            with closing(sqlite3.connect(file, isolation_level=None)) as reader, writing():
                if beside.is_set():
                    beside.clear()
                    reader.execute("BEGIN")
                    reader.execute("SELECT 1 FROM service_state").fetchone()
                    begun.set()
                    assert committed.wait(WITHIN_S)
                yield
            moved.set()

        monkeypatch.setattr(database.file_guard, "writing", overtaken)
        logs: set[bytes] = set()
        for write in range(WRITES):
            if is_moving := not moved.is_set():
                assert await to_thread.run_sync(begun.wait, WITHIN_S)
            await database.write(put, write)
            logs.add(number_of_log(file))
            if is_moving:
                committed.set()
                assert await to_thread.run_sync(moved.wait, WITHIN_S)
        committed.set()
    assert len(logs) > ANEW
