"""Brief units of work on Postgres: what goes over the wire, and connections that break."""

from functools import partial
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel
import pytest
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from callwright.service.storage import database as storage
from callwright.service.storage import engines, wire
from callwright.service.storage.database import Database, opened
from callwright.service.storage.engines import make_engine
from callwright.service.storage.loop_connections import TRANSACTIONS
from callwright.service.storage.prepared import Prepared
from callwright.service.storage.schema import service_state

from .test_brief_units import ADD, FIND, prepared
from .test_database import cut, names, put

ON_POSTGRES = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


class _Wrong(Exception):
    pass


async def round_trip(database: Database, value: Any, type_: str) -> Any:
    """A value as Postgres gives it back."""
    statement = Prepared(text(f"SELECT CAST(:value AS {type_}) AS value"))
    (found,) = await database.look_up(statement.first, {"value": value})
    return found


@ON_POSTGRES
async def test_without_an_event_loop_that_watches_sockets_they_run_in_threads(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "CAN_WATCH_SOCKETS", False)
    async with opened(database_url) as database:
        assert await database.write_briefly(prepared, "a") == "a"
        with pytest.raises(IntegrityError):
            await database.write_briefly(prepared, "a")
        await database.at_once(prepared, "b")
        assert await database.look_up(names) == {"a", "b"}


@ON_POSTGRES
async def test_values_come_back_from_postgres_as_they_were_sent(database_url: str) -> None:
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
    async with opened(database_url) as database:
        for _ in range(2):
            assert [await round_trip(database, *each) for each in sent] == [value for value, _ in sent]


@ON_POSTGRES
async def test_statements_beyond_those_that_a_connection_holds_are_run_all_the_same(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MOST_STATEMENTS", 1)
    async with opened(database_url) as database:
        await database.write_briefly(prepared, "a")
        for _ in range(3):
            assert (await database.look_up(FIND.first, {"name": "a"})).value == "x"
            assert await database.look_up(FIND.first, {"name": "b"}) is None


@ON_POSTGRES
async def test_statements_of_both_kinds_may_take_turns_on_a_connection(database_url: str) -> None:
    def work(connection: Connection, name: str) -> set[str]:
        for index in range(3):
            prepared(connection, f"{name}{index}")
            put(connection, f"{name}{index}'")
        return names(connection)

    async with opened(database_url) as database:
        found = await database.write_briefly(work, "a")
        assert found == {"a0", "a0'", "a1", "a1'", "a2", "a2'"}
        assert await database.look_up(names) == found


@ON_POSTGRES
async def test_look_ups_do_not_wait_behind_transactions_that_wait_for_a_lock(database_url: str) -> None:
    locked = select(service_state.c.value).where(service_state.c.name == "a").with_for_update()

    def wait(connection: Connection) -> None:
        Prepared(locked).first(connection, {})

    async with opened(database_url) as database:
        await database.write_briefly(prepared, "a")
        other = make_engine(database_url)
        with other.connect() as holder:
            holder.execute(locked)
            async with anyio.create_task_group() as tasks:
                for _ in range(2 * TRANSACTIONS):
                    tasks.start_soon(database.write_briefly, wait)
                await anyio.wait_all_tasks_blocked()
                try:
                    with anyio.fail_after(5):
                        for _ in range(50):
                            assert await database.look_up(names) == {"a"}
                finally:
                    holder.rollback()
        other.dispose()


@ON_POSTGRES
async def test_a_unit_that_passes_over_a_failed_statement_is_not_taken_for_committed(database_url: str) -> None:
    def work(connection: Connection) -> None:
        prepared(connection, "b")
        with pytest.raises(IntegrityError):
            prepared(connection, "a")

    async with opened(database_url) as database:
        await database.write_briefly(prepared, "a")
        with pytest.raises(DBAPIError, match="nothing of it was kept"):
            await database.write_briefly(work)
        assert await database.look_up(names) == {"a"}


@ON_POSTGRES
async def test_a_connection_that_was_idle_for_long_is_tried_and_used(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "IDLE_S", -1.0)
    mine = Prepared(text("SELECT pg_backend_pid()"))
    async with opened(database_url) as database:
        seen = {(await database.look_up(mine.first, {}))[0] for _ in range(3)}
        await database.write_briefly(prepared, "a")
        assert len(seen) == 1


@ON_POSTGRES
async def test_what_is_sent_with_the_next_statement_fails_with_it(database_url: str) -> None:
    row = {"name": "a", "value": "x"}

    def at_the_next(connection: Connection, *, is_prepared: bool) -> None:
        ADD.run_later(connection, row)
        ADD.run_later(connection, row)
        following = partial(FIND.first, params={"name": "a"}) if is_prepared else names
        with pytest.raises(IntegrityError):
            following(connection)
        raise _Wrong

    def at_the_end(connection: Connection) -> None:
        ADD.run_later(connection, {**row, "name": "b"})
        ADD.run_later(connection, row)

    async with opened(database_url) as database:
        for is_prepared in (True, False):
            with pytest.raises(_Wrong):
                await database.write_briefly(at_the_next, is_prepared=is_prepared)
        assert await database.look_up(names) == set()
        await database.write_briefly(ADD.run_later, row)
        with pytest.raises(IntegrityError):
            await database.write_briefly(at_the_end)
        assert await database.look_up(names) == {"a"}


@ON_POSTGRES
async def test_connections_of_the_event_loop_that_the_server_cut_are_replaced(database_url: str) -> None:
    async with opened(database_url) as database:
        await database.write_briefly(prepared, "a")
        await database.write(cut)
        with anyio.fail_after(10):
            while len(await database.look_up(names)) < 1:  # the cut is noticed without a statement that fails
                await anyio.lowlevel.checkpoint()
            await database.write_briefly(prepared, "b")
        assert await database.look_up(names) == {"a", "b"}


@ON_POSTGRES
@pytest.mark.parametrize("is_prepared", [True, False])
async def test_a_connection_that_ends_under_a_statement_leaves_nothing_at_its_socket(
    database_url: str, is_prepared: bool
) -> None:
    end = text("SELECT pg_terminate_backend(pg_backend_pid())")

    def work(connection: Connection) -> None:
        prepared(connection, "a")
        if is_prepared:
            Prepared(end).first(connection, {})
        else:
            connection.execute(end)

    async def echo(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.send(await stream.receive())

    async with opened(database_url) as database:
        await database.look_up(names)
        for _ in range(3):
            with pytest.raises(DBAPIError):
                await database.write_briefly(work)
            # Who opens a connection next gets the number of the socket that was closed.
            listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
            with anyio.fail_after(10):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(listener.serve, echo)
                    port = listener.extra(anyio.abc.SocketAttribute.local_port)
                    for _ in range(3):
                        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                            await stream.send(b"x")
                            assert await stream.receive() == b"x"
                    tasks.cancel_scope.cancel()
            await listener.aclose()
        assert await database.look_up(names) == set()


@ON_POSTGRES
async def test_a_unit_whose_connection_breaks_fails_and_the_next_one_has_another(database_url: str) -> None:
    async with opened(database_url) as database:

        def broken(connection: Connection) -> None:
            prepared(connection, "a")
            other = make_engine(database_url)
            with other.begin() as over:
                cut(over)
            other.dispose()
            prepared(connection, "b")

        with pytest.raises(DBAPIError) as caught:
            await database.write_briefly(broken)
        assert caught.value.connection_invalidated
        await database.write_briefly(prepared, "c")
        assert await database.look_up(names) == {"c"}
