"""Units of work: all or nothing each, whoever shares their commit."""

from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError, OperationalError

from callwright.service.platform.database import engines
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.engines import DatabaseClosed, make_engine
from callwright.service.platform.database.sqlite.group_commit import GROUP
from callwright.service.platform.database.units import brief
from callwright.service.tables.migrations.upgrade import upgrade
from callwright.service.tables.schema import service_state
from tests.service.platform.database.state_rows import WriteFailed, add_row, end_other_connections, row_names
from tests.support.held_writes import write_held_open
from tests.support.tasks import tasks_within

ON_POSTGRES = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


async def _put(database: Database, name: str) -> None:
    await database.write(add_row, name)


async def test_a_write_gives_its_result_and_is_seen_by_the_next_read(database: Database) -> None:
    assert await database.write(add_row, "a") == "a"
    assert await database.read(row_names) == {"a"}


async def test_a_write_returns_only_when_it_is_committed(database_url: str, database: Database) -> None:
    for index in range(5):
        await database.write(add_row, str(index))
        other = make_engine(database_url)
        with other.connect() as connection:
            assert str(index) in row_names(connection)
        other.dispose()


async def test_a_failing_unit_takes_nothing_of_its_neighbours_with_it(database: Database) -> None:
    failed: list[str] = []

    async def write(index: int) -> None:
        try:
            await database.write(add_row, f"{index:03d}", fails=index % 3 == 0)
        except WriteFailed as error:
            failed.append(str(error))

    async with tasks_within(30) as tasks:
        for index in range(3 * GROUP):
            tasks.start_soon(write, index)
    found = await database.read(row_names)
    assert sorted(failed) == [f"{index:03d}" for index in range(0, 3 * GROUP, 3)]
    assert found == {f"{index:03d}" for index in range(3 * GROUP) if index % 3}


async def test_an_error_of_the_database_undoes_its_unit_alone(database: Database) -> None:
    def twice(connection: Connection) -> None:
        add_row(connection, "b")
        add_row(connection, "a")

    await database.write(add_row, "a")
    with pytest.raises(IntegrityError):
        await database.write(twice)
    await database.write(add_row, "c")
    assert await database.read(row_names) == {"a", "c"}


async def test_writes_on_sqlite_share_commits(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'own.db'}"
    upgrade(url)
    said: list[str] = []

    def listen(connection: Connection) -> None:
        driver: Any = connection.connection.dbapi_connection
        driver.set_trace_callback(said.append)

    async with Database.opened(url) as database:
        async with write_held_open(database, listen) as tasks:
            for index in range(10):
                tasks.start_soon(_put, database, str(index))
            await anyio.wait_all_tasks_blocked()
        assert len(await database.read(row_names)) == 10
    assert said.count("COMMIT") == 2


async def test_many_counters_at_once_lose_nothing(database: Database) -> None:
    def add(connection: Connection) -> None:
        statement = select(service_state.c.value).where(service_state.c.name == "n").with_for_update()
        value = int(connection.execute(statement).scalar_one())
        connection.execute(service_state.update().where(service_state.c.name == "n").values(value=str(value + 1)))

    def begin(connection: Connection) -> None:
        connection.execute(insert(service_state), {"name": "n", "value": "0"})

    await database.write(begin)
    async with tasks_within(30) as tasks:
        for _ in range(100):
            tasks.start_soon(database.write, add)
    value = select(service_state.c.value)
    assert await database.read(lambda connection: connection.execute(value).scalar_one()) == "100"


async def test_a_read_sees_nothing_of_a_write_that_is_under_way(database: Database) -> None:
    async with write_held_open(database, lambda connection: add_row(connection, "a")):
        assert await database.read(row_names) == set()
    assert await database.read(row_names) == {"a"}


async def test_a_cancelled_writer_leaves_the_database_whole_and_the_others_alone(database: Database) -> None:
    begun, go = Event(), Event()

    def slow(connection: Connection) -> None:
        begun.set()
        assert go.wait(10)
        add_row(connection, "slow")

    def both(connection: Connection) -> None:
        add_row(connection, "first half")
        add_row(connection, "second half")

    async with tasks_within(20) as others:
        others.start_soon(database.write, slow)
        while not begun.is_set():
            await anyio.lowlevel.checkpoint()
        async with anyio.create_task_group() as cancelled:
            cancelled.start_soon(database.write, both)
            others.start_soon(_put, database, "other")
            await anyio.wait_all_tasks_blocked()
            go.set()
            cancelled.cancel_scope.cancel()
    found = await database.read(row_names)
    assert {"slow", "other"} <= found
    assert len(found & {"first half", "second half"}) in (0, 2)


async def test_a_closed_database_says_so(database_url: str) -> None:
    async with Database.opened(database_url) as database:
        await database.write(add_row, "a")
    with pytest.raises(DatabaseClosed):
        await database.write(add_row, "b")
    with pytest.raises(DatabaseClosed):
        await database.read(row_names)


async def test_writes_that_were_accepted_finish_before_the_database_closes(database_url: str) -> None:
    done: list[str] = []

    async def write(database: Database, name: str) -> None:
        with suppress(DatabaseClosed):
            done.append(await database.write(add_row, name))

    async with tasks_within(30) as tasks:
        async with Database.opened(database_url) as database:
            for index in range(100):
                tasks.start_soon(write, database, str(index))
            await database.read(row_names)
    async with Database.opened(database_url) as database:
        assert await database.read(row_names) == set(done)
    assert done


async def test_a_failure_inside_closes_the_database_too(database_url: str) -> None:
    kept: list[Database] = []

    async def fails() -> None:
        async with Database.opened(database_url) as database:
            kept.append(database)
            await database.write(add_row, "a")
            raise WriteFailed("inside")

    with pytest.raises(ExceptionGroup) as caught:
        await fails()
    assert caught.group_contains(WriteFailed)
    with pytest.raises(DatabaseClosed):
        await kept[0].read(row_names)


def test_sqlite_is_durable_and_keeps_foreign_keys(tmp_path: Path) -> None:
    engine = make_engine(f"sqlite:///{tmp_path / 'x.db'}", creates=True)

    def pragma(connection: Connection, name: str) -> Any:
        return connection.exec_driver_sql(f"PRAGMA {name}").scalar()

    with engine.connect() as connection:
        assert (pragma(connection, "journal_mode"), pragma(connection, "synchronous")) == ("wal", 2)
        assert pragma(connection, "foreign_keys") == 1
    engine.dispose()


def test_a_connection_makes_no_file_where_none_is(tmp_path: Path) -> None:
    for writer in (False, True):
        engine = make_engine(f"sqlite:///{tmp_path / 'x.db'}", writer=writer)
        with pytest.raises(OperationalError):
            engine.connect()
        engine.dispose()
    assert list(tmp_path.iterdir()) == []


@ON_POSTGRES
async def test_a_look_up_survives_that_the_server_cut_its_connection(database: Database) -> None:
    await database.write(add_row, "a")
    assert await database.read(brief(row_names)) == {"a"}
    await database.write(end_other_connections)
    assert await database.read(brief(row_names)) == {"a"}
    assert await database.read(brief(row_names)) == {"a"}


@ON_POSTGRES
async def test_connections_that_broke_while_idle_are_replaced(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "IDLE_S", -1.0)
    async with Database.opened(database_url) as database:
        await database.write(add_row, "a")
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(database.read, row_names)
        await database.write(end_other_connections)
        await database.write(add_row, "b")
        assert await database.read(row_names) == {"a", "b"}
