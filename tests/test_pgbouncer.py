"""What pgbouncer is told about the server, and what is prepared behind it."""

import tempfile
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest
from sqlalchemy import URL, make_url, text

from callwright.service.platform.database.database import Database
from callwright.service.platform.database.engines import Limits
from callwright.service.platform.database.postgres.brief_units import BriefUnits
from callwright.service.platform.database.postgres.event_loop_driver import Connector
from callwright.service.platform.database.postgres.time_limits import deadline
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.database.units import brief
from tests.support.database.databases import is_pooled
from tests.support.database.pgbouncer import Pooler, installed, target


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://postgres@/postgres?host=%2Frun%2Fpg&port=5432", "host='/run/pg' port='5432' user='postgres'"),
        ("postgresql://ann:o'k@db:5433/x", "host='db' port='5433' user='ann' password='o''k'"),
    ],
)
def test_pgbouncer_is_told_where_the_server_is_and_by_which_account(url: str, words: str) -> None:
    assert target(make_url(url)) == words


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_nothing_is_prepared_on_the_server_behind_a_pooler_and_what_runs_often_is_without_one(
    database_url: str,
) -> None:
    held = Prepared(text("SELECT count(*) FROM pg_prepared_statements"))
    async with Database.opened(database_url) as database:
        for run, unit in ((database.read, brief(held.first)), (database.write, held.first)):
            counts = [(await run(unit, {}))[0] for _ in range(20)]
            assert (max(counts) == 0) == is_pooled()


@pytest.fixture
def pooler_url(database_url: str) -> Generator[str]:
    """The same database through a pgbouncer that nobody announced."""
    if installed() is None or is_pooled():
        pytest.skip("pgbouncer is not installed, or every test runs behind one")
    with tempfile.TemporaryDirectory(prefix="callwright-pooler-") as name:
        Path(name).chmod(0o711)  # it runs as another account
        pooler = Pooler(Path(name) / "pooler", database_url)
        try:
            made = make_url(pooler.url).set(database=make_url(database_url).database)
            yield made.render_as_string(hide_password=False)
        finally:
            pooler.stop()


HELD = text("SELECT count(*) FROM pg_prepared_statements")


def _plain(url: str) -> URL:
    return make_url(url).set(drivername="postgresql")


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_a_pooler_that_takes_the_place_of_the_server_is_noticed_before_anything_is_prepared(
    database_url: str, pooler_url: str
) -> None:
    asked = Prepared(text("SELECT count(*), pg_backend_pid() FROM pg_prepared_statements"))
    believes_direct = Connector(_plain(pooler_url), 5, prepares=True)
    units = BriefUnits(believes_direct, Limits())
    counts: list[int] = []

    async def look() -> None:
        counts.append((await units.transaction(lambda connection: asked.first(connection, {}), deadline()))[0])
        counts.append(await units.transaction(lambda connection: connection.execute(HELD).scalar_one(), deadline()))

    try:
        for _ in range(5):
            async with anyio.create_task_group() as tasks:
                for _ in range(8):
                    tasks.start_soon(look)
        assert (len(counts), max(counts)) == (80, 0)
        assert not believes_direct.prepares
    finally:
        await units.close()


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_a_server_that_takes_the_place_of_a_pooler_is_noticed(database_url: str) -> None:
    if is_pooled():
        pytest.skip("there is no server without a pooler")
    believes_pooled = Connector(_plain(database_url), 5, prepares=False)
    (await believes_pooled()).terminate()
    assert believes_pooled.prepares
