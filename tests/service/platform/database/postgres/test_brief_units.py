"""Brief units of work, which run on the event loop: as whole and as durable as others, and nobody waits for them."""

import sqlite3
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from sqlalchemy import Connection, make_url
from sqlalchemy.exc import IntegrityError

from callwright.service.platform.database.database import Database
from callwright.service.platform.database.engines import DatabaseClosed, make_engine
from callwright.service.platform.database.sqlite import group_commit
from callwright.service.platform.database.sqlite.group_commit import GROUP
from callwright.service.platform.database.units import brief
from callwright.service.tables.migrations.upgrade import upgrade
from tests.service.platform.database.state_rows import add_row, add_row_as_text, row_names
from tests.support.tasks import tasks_within

ON_POSTGRES = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


async def _put(database: Database, name: str) -> None:
    await database.write(brief(add_row_as_text), name)


async def test_a_brief_write_returns_only_when_it_is_committed(database_url: str, database: Database) -> None:
    for index in range(5):
        assert await database.write(brief(add_row_as_text), str(index)) == str(index)
        other = make_engine(database_url)
        with other.connect() as connection:
            assert str(index) in row_names(connection)
        other.dispose()
        assert await database.read(brief(row_names)) == await database.read(row_names)


async def test_brief_and_other_units_fail_each_for_itself(database: Database) -> None:
    failed: list[str] = []
    count = 3 * GROUP

    async def write(index: int) -> None:
        name, fails = f"{index:03d}", index % 3 == 0
        try:
            if index % 4:
                await database.write(brief(add_row_as_text if index % 2 else add_row), name, fails=fails)
            else:
                await database.write(add_row, name, fails=fails)
        except Exception as error:
            failed.append(str(error))

    async with tasks_within(30) as tasks:
        for index in range(count):
            tasks.start_soon(write, index)
    found = await database.read(row_names)
    assert sorted(failed) == [f"{index:03d}" for index in range(0, count, 3)]
    assert found == {f"{index:03d}" for index in range(count) if index % 3}


async def test_an_error_of_the_database_undoes_a_brief_unit_alone(database: Database) -> None:
    def twice(connection: Connection) -> None:
        add_row_as_text(connection, "b")
        add_row_as_text(connection, "a")

    await database.write(brief(add_row_as_text), "a")
    for _ in range(2):
        with pytest.raises(IntegrityError):
            await database.write(brief(twice))
    await database.write(brief(add_row_as_text), "c")
    assert await database.read(brief(row_names)) == {"a", "c"}


async def test_units_that_take_long_leave_the_rest_for_the_next_group(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "HERE_S", -1.0)
    async with Database.opened(database_url) as database:
        async with anyio.create_task_group() as tasks:
            for index in range(30):
                tasks.start_soon(_put, database, f"{index:03d}")
        assert len(await database.read(row_names)) == 30


async def test_a_closed_database_takes_no_brief_unit(database_url: str) -> None:
    async with Database.opened(database_url) as database:
        await database.write(brief(add_row_as_text), "a")
    with pytest.raises(DatabaseClosed):
        await database.write(brief(add_row_as_text), "b")


async def test_a_brief_unit_that_was_begun_ends_although_it_is_cancelled(database: Database) -> None:
    begun = anyio.Event()

    def work(connection: Connection) -> None:
        begun.set()
        add_row_as_text(connection, "a")

    await database.read(brief(row_names))
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(database.write, brief(work))
            await begun.wait()
            tasks.cancel_scope.cancel()
        await database.write(brief(add_row_as_text), "b")
    assert await database.read(brief(row_names)) == {"a", "b"}


async def test_the_event_loop_goes_on_while_another_process_writes_into_the_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'own.db'}"
    upgrade(url)
    async with Database.opened(url) as database:
        await database.write(brief(add_row_as_text), "a")
        other = sqlite3.connect(make_url(url).database or "", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        async with tasks_within(20) as tasks:
            tasks.start_soon(_put, database, "b")
            for _ in range(100):
                assert await database.read(brief(row_names)) == {"a"}
                await anyio.lowlevel.checkpoint()
            other.execute("COMMIT")
        assert await database.read(brief(row_names)) == {"a", "b"}
        other.close()


@pytest.mark.parametrize("is_brief", [True, False])
async def test_when_a_whole_transaction_is_gone_nobody_is_told_that_he_was_committed(
    tmp_path: Path, is_brief: bool
) -> None:
    url = f"sqlite:///{tmp_path / 'own.db'}"
    upgrade(url)
    failed: list[str] = []

    def lose(connection: Connection, name: str) -> None:  # as SQLite does when the disk is full
        add_row_as_text(connection, name)
        driver: Any = connection.connection.dbapi_connection
        driver.execute("ROLLBACK")

    async with Database.opened(url) as database:

        async def write(work: Any, name: str) -> None:
            await database.write(brief(work) if is_brief else work, name)

        await write(add_row_as_text, "first")

        async def attempt(work: Any, name: str) -> None:
            try:
                await write(work, name)
            except sqlite3.Error:
                failed.append(name)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(attempt, add_row_as_text, "a")
            tasks.start_soon(attempt, lose, "b")
            tasks.start_soon(attempt, add_row_as_text, "c")
        await write(add_row_as_text, "last")
        assert await database.read(row_names) == {"first", "a", "b", "c", "last"} - set(failed)
    assert {"a", "b"} <= set(failed)


async def test_a_unit_that_does_nothing_is_committed(database: Database) -> None:
    assert await database.write(brief(lambda connection: connection.dialect.name)) in ("sqlite", "postgresql")
    with pytest.raises(ZeroDivisionError):
        await database.write(brief(lambda _: 1 // 0))
    assert await database.write(brief(add_row_as_text), "a") == "a"
