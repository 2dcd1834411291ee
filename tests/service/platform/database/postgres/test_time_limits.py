"""Units of work on Postgres that take too long: each ends at its limit, and its place and its locks are free again."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from sqlalchemy import Connection, make_url, text

from callwright.service.platform.database.database import Database
from callwright.service.platform.database.engines import POSTGRES_CONNECTIONS, DatabaseClosed, Limits, make_engine
from callwright.service.platform.database.postgres.brief_units import LOOK_UPS, TRANSACTIONS
from callwright.service.platform.database.postgres.executor import LAST_S
from callwright.service.platform.database.postgres.reachability import DatabaseUnreachable
from callwright.service.platform.database.postgres.time_limits import LIMIT_S, limited
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.database.units import brief
from tests.service.platform.database.state_rows import add_row, add_row_as_text, row_names
from tests.support.database.databases import is_pooled
from tests.support.tasks import tasks_within

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
SLEEPS = text("SELECT pg_sleep(60)")


def sleeps(connection: Connection) -> None:
    """Takes a lock, and then longer than any limit, in a statement that SQLAlchemy runs."""
    add_row(connection, "a")
    connection.execute(SLEEPS)


def sleeps_prepared(connection: Connection) -> None:
    """The same in statements that the driver is handed as text."""
    add_row_as_text(connection, "a")
    Prepared(SLEEPS).first(connection, {})


def only_sleeps(connection: Connection) -> None:
    connection.execute(SLEEPS)


async def refused(run: Callable[..., Any], work: Callable[[Connection], None]) -> None:
    """Runs a unit of work that is cut off."""
    with pytest.raises(DatabaseUnreachable):
        await run(work)


async def many_at_once(database: Database, run: Callable[..., Any], work: Callable[[Connection], None]) -> None:
    """As many as there are places and more, each cut off; then all the places and the lock are free."""

    async def add(work: Callable[[Connection, str], Any], name: str) -> None:
        await database.write(work, name)

    database.shorten(0.3)
    async with tasks_within(30) as tasks:
        for _ in range(2 * (TRANSACTIONS + LOOK_UPS)):
            tasks.start_soon(refused, run, work)
    database.shorten(LIMIT_S)
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            for index in range(2 * TRANSACTIONS):
                tasks.start_soon(add, brief(add_row), f"brief {index}")
                tasks.start_soon(add, add_row, f"larger {index}")
                tasks.start_soon(database.read, brief(row_names))
                tasks.start_soon(database.read, row_names)
        await database.write(brief(add_row_as_text), "a")
    assert len(await database.read(row_names)) == 4 * TRANSACTIONS + 1


@pytest.mark.parametrize("work", [sleeps, sleeps_prepared, only_sleeps])
@pytest.mark.parametrize("is_brief", [True, False])
@pytest.mark.parametrize("kind", ["write", "read"])
async def test_units_that_are_cut_off_leave_their_places_and_their_locks(
    database_url: str, kind: str, is_brief: bool, work: Callable[[Connection], None]
) -> None:
    if kind == "read":
        work = only_sleeps
    async with Database.opened(database_url, Limits(statement_ms=2_000)) as database:
        await database.read(brief(row_names))  # which chooses how brief units run
        await many_at_once(database, getattr(database, kind), brief(work) if is_brief else work)


async def test_nobody_waits_for_a_place_longer_than_for_the_unit(database: Database) -> None:
    async with anyio.create_task_group() as tasks:

        async def held() -> None:
            with limited(1):
                await refused(database.read, only_sleeps)

        for _ in range(POSTGRES_CONNECTIONS):
            tasks.start_soon(held)
        await anyio.wait_all_tasks_blocked()
        with limited(0.2), pytest.raises(DatabaseUnreachable):
            await database.read(row_names)


@pytest.mark.parametrize("is_brief", [True, False])
async def test_no_reading_waits_behind_writes(database: Database, is_brief: bool) -> None:
    writing, reading = (brief(only_sleeps), brief(row_names)) if is_brief else (only_sleeps, row_names)
    await database.read(brief(row_names))
    database.shorten(3)
    async with anyio.create_task_group() as tasks:
        for _ in range(2 * (TRANSACTIONS + LOOK_UPS)):
            tasks.start_soon(refused, database.write, writing)
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(2):
            assert await database.read(reading) == set()


async def test_what_hangs_keeps_no_service_from_its_end(database_url: str) -> None:
    with anyio.fail_after(LAST_S + 10):
        async with anyio.create_task_group() as tasks, Database.opened(database_url) as database:
            tasks.start_soon(refused, database.read, only_sleeps)
            for unit in (only_sleeps, brief(only_sleeps)):
                tasks.start_soon(refused, database.write, unit)
            await anyio.wait_all_tasks_blocked()


async def test_who_waits_for_a_lock_is_told_when_the_database_is_closed(database_url: str) -> None:
    other = make_engine(database_url)
    told: list[BaseException] = []

    async def waits(database: Database, unit: Callable[[Connection, str], Any]) -> None:
        try:
            await database.write(unit, "a")
        except Exception as error:
            told.append(error)

    with other.connect() as connection, connection.begin(), anyio.fail_after(LAST_S + 10):
        add_row(connection, "a")
        async with (
            anyio.create_task_group() as tasks,
            Database.opened(database_url, Limits(lock_ms=60_000)) as database,
        ):
            for unit in (add_row, brief(add_row)):
                tasks.start_soon(waits, database, unit)
            await anyio.wait_all_tasks_blocked()
    other.dispose()
    assert [type(error) for error in told] == [DatabaseClosed, DatabaseClosed]


async def test_a_database_that_takes_no_writes_is_said_to_until_it_takes_them(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    if is_pooled():
        pytest.skip("pgbouncer keeps connections that were made before the setting")
    admin = make_engine(make_url(database_url).set(database="postgres").render_as_string(hide_password=False))

    def reads_only(value: str) -> None:
        with admin.begin() as connection:
            named = f'ALTER DATABASE "{make_url(database_url).database}"'
            connection.execute(text(f"{named} SET default_transaction_read_only = {value}"))

    reads_only("on")
    async with Database.opened(database_url) as database:
        for unit in (add_row, brief(add_row)):
            with pytest.raises(DatabaseUnreachable, match="takes no writes"):
                await database.write(unit, "a")
            assert await database.read(row_names) == set()
        assert await database.problem(5) == "takes no writes"
        assert database.reachability.is_away
        assert [record.levelname for record in caplog.records] == ["ERROR"]
    reads_only("off")
    admin.dispose()
    async with Database.opened(database_url) as database:
        await database.write(add_row, "a")
        assert await database.problem(5) is None
