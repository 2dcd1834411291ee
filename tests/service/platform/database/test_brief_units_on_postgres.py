"""Brief units of work on Postgres: values, places, and connections that break."""

from typing import Any

import anyio
import anyio.abc
import pytest
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from callwright.service.platform.database import engines
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.engines import PassedOverFailure, make_engine
from callwright.service.platform.database.postgres.brief_units import LOOK_UPS, TRANSACTIONS
from callwright.service.platform.database.postgres.reachability import DatabaseUnreachable
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.database.units import brief
from callwright.service.tables.schema import service_state
from tests.service.platform.database.state_rows import add_row, add_row_as_text, end_other_connections, row_names
from tests.support.tasks import tasks_within

ON_POSTGRES = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


async def round_trip(database: Database, value: Any, type_: str) -> Any:
    """A value as Postgres gives it back."""
    statement = Prepared(text(f"SELECT CAST(:value AS {type_}) AS value"))
    (found,) = await database.read(brief(statement.first), {"value": value})
    return found


@ON_POSTGRES
async def test_values_come_back_from_postgres_as_they_were_sent(database: Database) -> None:
    sent: list[tuple[Any, str]] = [
        (1, "bigint"),
        (40_000, "bigint"),
        (2**40, "bigint"),
        (None, "bigint"),
        (1.5, "double precision"),
        (True, "boolean"),
        ("Zoë %s $1 :x '", "text"),
        ("", "text"),
        (["a", "b"], "text[]"),
        ("x" * 5_000_000, "text"),
    ]
    for _ in range(2):
        assert [await round_trip(database, *each) for each in sent] == [value for value, _ in sent]


@ON_POSTGRES
async def test_statements_of_both_kinds_may_take_turns_on_a_connection(database: Database) -> None:
    def work(connection: Connection, name: str) -> set[str]:
        for index in range(3):
            add_row_as_text(connection, f"{name}{index}")
            add_row(connection, f"{name}{index}'")
        return row_names(connection)

    found = await database.write(brief(work), "a")
    assert found == {"a0", "a0'", "a1", "a1'", "a2", "a2'"}
    assert await database.read(brief(row_names)) == found


@ON_POSTGRES
async def test_look_ups_do_not_wait_behind_transactions_that_wait_for_a_lock(
    database: Database, database_url: str
) -> None:
    locked = select(service_state.c.value).where(service_state.c.name == "a").with_for_update()

    def wait(connection: Connection) -> None:
        Prepared(locked).first(connection, {})

    await database.write(brief(add_row_as_text), "a")
    other = make_engine(database_url)
    with other.connect() as holder:
        holder.execute(locked)
        async with anyio.create_task_group() as tasks:
            for _ in range(2 * TRANSACTIONS):
                tasks.start_soon(database.write, brief(wait))
            await anyio.wait_all_tasks_blocked()
            try:
                with anyio.fail_after(5):
                    for _ in range(50):
                        assert await database.read(brief(row_names)) == {"a"}
            finally:
                holder.rollback()
    other.dispose()


@ON_POSTGRES
async def test_a_unit_that_passes_over_a_failed_statement_is_not_taken_for_committed(database: Database) -> None:
    def work(connection: Connection) -> None:
        add_row_as_text(connection, "b")
        with pytest.raises(IntegrityError):
            add_row_as_text(connection, "a")

    await database.write(brief(add_row_as_text), "a")
    for unit in (brief(work), work):
        with pytest.raises(PassedOverFailure, match="nothing of it was kept"):
            await database.write(unit)
    assert await database.read(brief(row_names)) == {"a"}


@ON_POSTGRES
async def test_a_connection_that_was_idle_for_long_is_tried_and_used(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "IDLE_S", -1.0)
    mine = Prepared(text("SELECT pg_backend_pid()"))
    async with Database.opened(database_url) as database:
        seen = {(await database.read(brief(mine.first), {}))[0] for _ in range(3)}
        await database.write(brief(add_row_as_text), "a")
        assert len(seen) == 1


@ON_POSTGRES
async def test_connections_of_the_event_loop_that_the_server_cut_are_replaced(database: Database) -> None:
    await database.write(brief(add_row_as_text), "a")
    async with anyio.create_task_group() as tasks:  # so that there are several of them
        for _ in range(2 * LOOK_UPS):
            tasks.start_soon(database.read, brief(row_names))
    await database.write(end_other_connections)
    with anyio.fail_after(10):
        assert await database.read(brief(row_names)) == {"a"}  # one that failed is run again
        await database.write(brief(add_row_as_text), "b")  # on none of the others that were cut
    assert await database.read(brief(row_names)) == {"a", "b"}


@ON_POSTGRES
@pytest.mark.parametrize("is_prepared", [True, False])
async def test_a_connection_that_ends_under_a_statement_leaves_nothing_at_its_socket(
    database: Database, is_prepared: bool
) -> None:
    end = text("SELECT pg_terminate_backend(pg_backend_pid())")

    def work(connection: Connection) -> None:
        add_row_as_text(connection, "a")
        if is_prepared:
            Prepared(end).first(connection, {})
        else:
            connection.execute(end)

    async def echo(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.send(await stream.receive())

    await database.read(brief(row_names))
    for _ in range(3):
        with pytest.raises(DatabaseUnreachable):
            await database.write(brief(work))
        # Who opens a connection next gets the number of the socket that was closed.
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        async with tasks_within(10) as tasks:
            tasks.start_soon(listener.serve, echo)
            port = listener.extra(anyio.abc.SocketAttribute.local_port)
            for _ in range(3):
                async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                    await stream.send(b"x")
                    assert await stream.receive() == b"x"
            tasks.cancel_scope.cancel()
        await listener.aclose()
    assert await database.read(brief(row_names)) == set()


@ON_POSTGRES
async def test_a_unit_whose_connection_breaks_fails_and_the_next_one_has_another(
    database_url: str, database: Database
) -> None:

    def broken(connection: Connection) -> None:
        add_row_as_text(connection, "a")
        other = make_engine(database_url)
        with other.begin() as over:
            end_other_connections(over)
        other.dispose()
        add_row_as_text(connection, "b")

    with pytest.raises(DatabaseUnreachable) as caught:
        await database.write(brief(broken))
    assert isinstance(caught.value.__cause__, DBAPIError)
    assert caught.value.__cause__.connection_invalidated
    await database.write(brief(add_row_as_text), "c")
    assert await database.read(brief(row_names)) == {"c"}
