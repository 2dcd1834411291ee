"""Where an address leads: both drivers to the same place, and nobody to a place that was not meant."""

from itertools import product
from urllib.parse import quote

import pytest
from sqlalchemy import Connection, make_url, text

from callwright.service.platform.database.database import Database
from callwright.service.platform.database.engines import connection_parameters, make_engine
from callwright.service.platform.database.postgres.event_loop_driver import can_follow
from callwright.service.platform.database.postgres.reachability import DatabaseUnreachable
from callwright.service.platform.database.unavailable import DatabaseUnusable
from callwright.service.platform.database.units import brief
from tests.service.platform.database.state_rows import FIND_ROW, add_row_as_text
from tests.support.database.databases import is_pooled

ON_POSTGRES = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


def said_name(connection: Connection) -> str:
    """What the connection is called on the server."""
    return connection.execute(text("SELECT current_setting('application_name')")).scalar_one()


def is_on_event_loop(connection: Connection) -> bool:
    """Whether asyncpg runs the statements of the unit."""
    return connection.dialect.is_async


def said_place(connection: Connection) -> tuple[str, ...]:
    """Where a connection is, and how it writes text."""
    named = ("search_path", "client_encoding", "port")
    settings = [connection.execute(text(f"SHOW {each}")).scalar_one().upper().replace("-", "") for each in named]
    return (connection.execute(text("SELECT current_database()")).scalar_one(), *settings)


@pytest.mark.parametrize(
    ("said", "follows"),
    [
        ({}, True),
        ({"sslmode": "require", "application_name": "mine"}, True),
        ({"connect_timeout": "3", "keepalives_idle": "5", "tcp_user_timeout": "99"}, True),
        ({"host": "/run/pg", "port": "5433", "service": "calls", "passfile": "/x"}, True),
        ({"sslmode": "verify-full", "sslrootcert": "system"}, False),
        ({"channel_binding": "prefer", "sslcertmode": "allow"}, True),
        ({"channel_binding": "require"}, False),
        ({"krbsrvname": "x"}, False),
        ({"host": "one,two", "port": "5432,5432"}, False),
    ],
)
def test_what_asks_for_more_than_asyncpg_can_do_is_done_in_threads(said: dict[str, str], follows: bool) -> None:
    assert can_follow(said) == follows


@ON_POSTGRES
@pytest.mark.parametrize(
    ("more", "follows"),
    [("", True), ("&connect_timeout=3&keepalives=0", True), ("&application_name=mine", True), ("&krbsrvname=x", False)],
)
async def test_every_address_works_whether_or_not_asyncpg_can_follow_it(
    database_url: str, more: str, follows: bool
) -> None:
    name = make_url(f"{database_url}{more}").query.get("application_name", "callwright")
    async with Database.opened(f"{database_url}{more}") as database:
        await database.write(brief(add_row_as_text), "a")
        assert await database.read(brief(is_on_event_loop)) is follows
        assert (await database.read(brief(FIND_ROW.first), {"name": "a"})).value == "x"
        assert await database.read(brief(said_name)) == await database.read(said_name) == name


@ON_POSTGRES
@pytest.mark.parametrize(
    ("address", "settings"),
    [
        ("postgresql+psycopg:///{name}?user=postgres", {}),
        ("postgresql+psycopg:///?dbname={name}&user=postgres", {}),
        ("postgresql+psycopg://", {"PGDATABASE": "{name}", "PGUSER": "postgres"}),
        ("postgresql+psycopg://postgres@{socket}/{name}", {}),
        ("postgresql+psycopg://postgres@/{name}", {"PGOPTIONS": "-csearch_path=other"}),
        ("postgresql+psycopg://postgres@/{name}", {"PGCLIENTENCODING": "LATIN1"}),
        ("postgresql+psycopg://postgres@/{name}?connect_timeout=-1", {}),
    ],
)
async def test_the_event_loop_and_the_threads_go_to_the_same_place(
    database_url: str, address: str, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_pooled() and "PGOPTIONS" in settings:
        pytest.skip("pgbouncer refuses options")
    made = make_url(database_url)
    name, socket = str(made.database), quote(str(made.query["host"]), safe="")
    server = {"PGHOST": str(made.query["host"]), "PGPORT": str(made.query["port"])}
    for variable, value in {**server, **settings}.items():
        monkeypatch.setenv(variable, value.format(name=name))
    async with Database.opened(address.format(name=name, socket=socket)) as database:
        assert await database.read(brief(is_on_event_loop))
        seen = await database.read(brief(said_place))
        assert seen == await database.read(said_place)
    assert (seen[0], seen[2]) == (name, "UTF8")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql+psycopg://ann:se@cret@db/calls", "%40"),
        ("postgresql+psycopg://ann:se%zzcret@db/calls", "%25"),
        ("postgresql+psycopg://ann:secret@db/calls?sslmod=require", "sslmod"),
        ("postgresql+psycopg://ann:secret@[db/calls", "write it as"),
    ],
)
def test_an_address_that_cannot_be_read_is_refused_without_its_password(address: str, said: str) -> None:
    with pytest.raises(DatabaseUnusable, match=said) as refused:
        connection_parameters(address)
    assert "cret" not in str(refused.value)


@ON_POSTGRES
async def test_a_role_may_say_what_it_likes_of_encodings(database: Database, database_url: str) -> None:
    engine = make_engine(database_url)
    named = f'ALTER DATABASE "{make_url(database_url).database}" SET client_encoding = LATIN1'
    with engine.begin() as connection:
        connection.execute(text(named))
    engine.dispose()
    await database.write(add_row_as_text, "語")
    assert (await database.read(brief(FIND_ROW.first), {"name": "語"})).value == "x"
    assert (await database.read(FIND_ROW.first, {"name": "語"})).value == "x"


@ON_POSTGRES
async def test_an_address_where_nobody_answers_is_a_database_that_does_not_answer(database_url: str) -> None:
    nobody = make_url(database_url).update_query_dict({"port": "1"}).render_as_string(hide_password=False)
    async with Database.opened(nobody) as database:
        for run, unit in product((database.read, database.write), (brief(FIND_ROW.first), FIND_ROW.first)):
            with pytest.raises(DatabaseUnreachable):
                await run(unit, {"name": "a"})
