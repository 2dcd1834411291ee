"""The limits of transactions on Postgres: for who is silent, and for who waits."""

from threading import Event

import anyio
import pytest
from sqlalchemy import Connection, select, text, update
from sqlalchemy.exc import DBAPIError

from callwright.service.platform.database.database import Database
from callwright.service.platform.database.engines import Limits, connection_parameters, make_engine
from callwright.service.platform.database.postgres.lock_waits import Locked
from callwright.service.platform.database.units import brief, preempts
from callwright.service.tables.schema import service_state
from tests.service.platform.database.state_rows import add_row, row_names
from tests.support.database.databases import is_pooled
from tests.support.tasks import tasks_within

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
_SAID = text("SELECT current_setting('idle_in_transaction_session_timeout'), current_setting('lock_timeout')")
_ROW = select(service_state).where(service_state.c.name == "a").with_for_update()
_CHANGE = update(service_state).where(service_state.c.name == "a").values(value="y")


def said(connection: Connection) -> tuple[str, str]:
    return tuple(connection.execute(_SAID).one())


def change(connection: Connection) -> int:
    return connection.execute(_CHANGE).rowcount


async def test_every_transaction_has_its_limits_and_no_session_behind_a_pooler_keeps_them(database_url: str) -> None:
    async with Database.opened(database_url, Limits(idle_ms=7_000, try_ms=200)) as database:
        for _ in range(3):
            assert await database.write(said) == await database.write(brief(said)) == ("7s", "200ms")
            assert await database.read(said) == ("7s", "200ms")
            assert await database.write(preempts(said)) == ("7s", "4s")
            assert await database.read(brief(said)) == (("0", "0") if is_pooled() else ("7s", "200ms"))
        await database.write(add_row, "a")
        assert await database.read(row_names) == {"a"}


async def test_a_transaction_whose_process_says_nothing_is_over_and_its_locks_are_free(database_url: str) -> None:
    holds, let_go = anyio.Event(), Event()
    failed: list[str] = []

    async with Database.opened(database_url, Limits(idle_ms=400)) as silent, Database.opened(database_url) as other:
        await other.write(add_row, "a")

        def hold(connection: Connection) -> None:
            connection.execute(_ROW)
            anyio.from_thread.run_sync(holds.set)
            assert let_go.wait(30)
            connection.execute(_CHANGE)

        async def freeze() -> None:
            with pytest.raises(DBAPIError) as caught:
                await silent.write(hold)
            failed.append(type(caught.value.orig).__name__)

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(freeze)
                await holds.wait()
                assert await other.write(change) == 1
                let_go.set()
            assert failed == ["IdleInTransactionSessionTimeout"]
            assert await silent.write(change) == 1


@pytest.mark.parametrize("is_brief", [True, False])
async def test_units_that_wait_for_one_lock_leave_places_for_others(database_url: str, is_brief: bool) -> None:
    refused: list[str] = []

    async with Database.opened(database_url, Limits(try_ms=100, lock_ms=1_500)) as database:
        changes, puts = (brief(change), brief(add_row)) if is_brief else (change, add_row)
        await database.write(add_row, "a")
        other = make_engine(database_url)

        async def wait() -> None:
            with pytest.raises(Locked):
                await database.write(changes)
            refused.append("a")

        with other.connect() as holder:
            holder.execute(_ROW)
            async with tasks_within(30) as tasks:
                for _ in range(20):
                    tasks.start_soon(wait)
                await anyio.sleep(0.05)
                with anyio.fail_after(2):
                    for index in range(5):
                        await database.write(puts, f"b{index}")
            holder.rollback()
        assert len(refused) == 20
        assert await database.write(changes) == 1
        other.dispose()


async def test_a_unit_that_finds_its_lock_free_in_the_end_is_run_again(database_url: str) -> None:
    async with Database.opened(database_url, Limits(try_ms=50)) as database:
        await database.write(add_row, "a")
        other = make_engine(database_url)
        holder = other.connect()
        holder.execute(_ROW)
        found: list[int] = []

        async def wait(briefly: bool) -> None:
            found.append(await database.write(brief(change) if briefly else change))

        async with tasks_within(20) as tasks:
            tasks.start_soon(wait, True)
            tasks.start_soon(wait, False)
            await anyio.sleep(0.5)
            assert not found
            holder.close()
        other.dispose()
        assert found == [1, 1]


async def _waits(database: Database) -> None:
    """Returns once somebody waits for a lock."""
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    while not await database.read(brief(lambda connection: connection.execute(waiting).scalar_one())):  # noqa: ASYNC110  # elsewhere
        await anyio.sleep(0.01)


async def test_a_stop_ends_silent_transactions_in_its_way_and_those_behind_which_they_wait(
    database_url: str, database: Database
) -> None:
    await database.write(add_row, "a")
    await database.write(add_row, "b")
    first, second = make_engine(database_url), make_engine(database_url)
    with first.connect() as frozen, second.connect() as behind, anyio.fail_after(20):
        frozen.execute(_ROW)
        behind.execute(select(service_state).where(service_state.c.name == "b").with_for_update())
        ended: list[bool] = []

        async def wait_behind() -> None:
            await anyio.to_thread.run_sync(behind.execute, _CHANGE)
            behind.rollback()
            ended.append(True)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait_behind)
            await _waits(database)
            remove = service_state.delete().where(service_state.c.name == "b")
            assert await database.write(preempts(lambda connection: connection.execute(remove).rowcount)) == 1
        assert ended
        with pytest.raises(DBAPIError, match="terminating connection"):
            frozen.execute(_CHANGE)
        frozen.invalidate()
    first.dispose()
    second.dispose()
    assert await database.read(row_names) == {"a"}


async def test_a_stop_waits_for_who_is_at_work(database_url: str, database: Database) -> None:
    await database.write(add_row, "a")
    other = make_engine(database_url)

    def work() -> None:
        with other.begin() as connection:
            for _ in range(6):
                connection.execute(_CHANGE)
                connection.execute(text("SELECT pg_sleep(0.3)"))

    async with tasks_within(20) as tasks:
        tasks.start_soon(anyio.to_thread.run_sync, work)
        await anyio.sleep(0.1)
        assert await database.write(preempts(change)) == 1
    other.dispose()


async def test_who_is_silent_in_the_midst_of_a_statement_is_ended_too(database_url: str) -> None:
    """As a process that was stopped while it read a large result: the limits between statements do not see it."""
    async with Database.opened(database_url, Limits(idle_ms=400)) as database:
        await database.write(add_row, "a")
        other = make_engine(database_url)
        connection = other.raw_connection()
        driver = connection.dbapi_connection
        assert driver is not None
        driver.execute("SET application_name = 'callwright'")
        driver.execute("SELECT * FROM service_state WHERE name = 'a' FOR UPDATE")
        driver.pgconn.send_query(b"SELECT repeat('x', 1000) FROM generate_series(1, 100000)")
        driver.pgconn.flush()
        with anyio.fail_after(20):
            with pytest.raises(TimeoutError), anyio.fail_after(1):
                await database.write(change)
            await database.end_idle_transactions()
            assert await database.write(change) == 1
        connection.invalidate()
        other.dispose()


def test_what_the_address_says_about_a_connection_holds(database_url: str) -> None:
    given = connection_parameters(f"{database_url}&tcp_user_timeout=99&application_name=mine")
    assert (given["tcp_user_timeout"], given["application_name"]) == ("99", "mine")
    assert given["keepalives"] == 1
    assert connection_parameters(database_url)["tcp_user_timeout"] == 10_000
