"""What asyncpg makes of an address, and connections that cannot be made."""

import pytest
from sqlalchemy import Connection, make_url, text
from sqlalchemy.exc import DBAPIError

from callwright.service.storage.database import opened
from callwright.service.storage.event_loop_driver import Connector, can_follow
from callwright.service.storage.reachability import DatabaseUnreachable

from .test_brief_units import FIND, prepared

ON_POSTGRES = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


def said_name(connection: Connection) -> str:
    """What the connection is called on the server."""
    return connection.execute(text("SELECT current_setting('application_name')")).scalar_one()


@pytest.mark.parametrize(
    ("query", "follows"),
    [
        ("", True),
        ("?sslmode=require&application_name=mine", True),
        ("?connect_timeout=3&keepalives_idle=5&tcp_user_timeout=99", True),
        ("?host=%2Frun%2Fpg&port=5433", True),
        ("?sslmode=verify-full&sslrootcert=system", False),
        ("?channel_binding=require", False),
        ("?krbsrvname=postgres", False),
        ("?host=one:5432&host=two:5432", False),
    ],
)
def test_an_address_that_asks_for_more_than_asyncpg_can_do_is_used_in_threads(query: str, follows: bool) -> None:
    assert can_follow(f"postgresql+psycopg://ann:secret@db/calls{query}") == follows


@ON_POSTGRES
@pytest.mark.parametrize("more", ["", "&connect_timeout=3&keepalives=0", "&application_name=mine", "&krbsrvname=x"])
async def test_every_address_works_whether_or_not_asyncpg_can_follow_it(database_url: str, more: str) -> None:
    name = make_url(f"{database_url}{more}").query.get("application_name", "callwright")
    async with opened(f"{database_url}{more}") as database:
        await database.write_briefly(prepared, "a")
        assert (await database.look_up(FIND.first, {"name": "a"})).value == "x"
        assert await database.look_up(said_name) == await database.read(said_name) == name


@ON_POSTGRES
async def test_an_address_where_nobody_answers_is_a_database_that_does_not_answer(database_url: str) -> None:
    nobody = make_url(database_url).update_query_dict({"port": "1"}).render_as_string(hide_password=False)
    with pytest.raises(DBAPIError, match="nobody answers"):
        await Connector(nobody)()
    async with opened(nobody) as database:
        for run in (database.look_up, database.write_briefly, database.write, database.read):
            with pytest.raises(DatabaseUnreachable):
                await run(FIND.first, {"name": "a"})
