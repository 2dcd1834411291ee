"""Statements that are handed to the driver as text: the same rows, values and errors as through SQLAlchemy."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, bindparam, insert, select, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from callwright.service.platform.database.database import Database
from callwright.service.platform.database.prepared import Prepared
from callwright.service.tables.schema import organizations, outbox, wallets

ORGANIZATION = {"id": "org_1", "name": "Zoë %s ? :x", "plan": "pro", "created_at": 1}
WALLET = {"org_id": "org_1", "balance_micros": 5, "reserved_micros": 0, "threshold_micros": 0, "updated_at": 1}
ADD = Prepared(insert(organizations))
FIND = select(wallets).where(wallets.c.org_id == bindparam("org"))


@asynccontextmanager
async def filled(url: str) -> AsyncGenerator[Database]:
    async with Database.opened(url) as database:
        await database.write(ADD.run, ORGANIZATION)
        await database.write(Prepared(insert(wallets)).run, {**WALLET, "low": False, "play_money": True})
        yield database


async def test_rows_have_the_values_that_the_library_gives(database_url: str) -> None:
    async with filled(database_url) as database:

        def both(connection: Connection) -> tuple[Any, Any]:
            return Prepared(FIND).first(connection, {"org": "org_1"}), connection.execute(FIND, {"org": "org_1"}).one()

        prepared, executed = await database.read(both)
        assert prepared._asdict() == dict(executed._mapping)  # pyright: ignore[reportPrivateUsage]  # its public name
        assert prepared.low is False
        assert prepared.play_money is True
        found = await database.read(Prepared(select(organizations.c.name)).all, {})
        assert [row.name for row in found] == ["Zoë %s ? :x"]


async def test_nothing_found_is_none_and_an_empty_list(database_url: str) -> None:
    async with filled(database_url) as database:
        assert await database.read(Prepared(FIND).first, {"org": "org_2"}) is None
        assert await database.read(Prepared(FIND).all, {"org": "org_2"}) == []


async def test_changes_are_counted_and_may_give_rows(database_url: str) -> None:
    change = update(wallets).where(wallets.c.org_id == bindparam("org")).values(low=bindparam("is_low"))
    async with filled(database_url) as database:
        assert await database.write(Prepared(change).run, {"org": "org_1", "is_low": True}) == 1
        assert await database.write(Prepared(change).run, {"org": "org_2", "is_low": True}) == 0
        given = await database.write(Prepared(change.returning(wallets.c.low)).first, {"org": "org_1", "is_low": True})
        assert given.low is True


async def test_constants_of_a_statement_need_not_be_given(database_url: str) -> None:
    one = Prepared(select(organizations.c.id).where(organizations.c.plan == "pro", organizations.c.id.is_not(None)))
    async with filled(database_url) as database:
        assert (await database.read(one.first, {})).id == "org_1"
        assert tuple(await database.read(Prepared(text("SELECT 1, :x")).first, {"x": 2})) == (1, 2)


async def test_a_broken_rule_is_an_integrity_error_without_the_values(database_url: str) -> None:
    async with filled(database_url) as database:
        with pytest.raises(IntegrityError) as caught:
            await database.write(ADD.run, {**ORGANIZATION, "id": "org_2"})
        assert "UNIQUE" in str(caught.value).upper()
        assert caught.value.params is None
        with pytest.raises(DBAPIError):
            await database.read(Prepared(text("SELECT nothing FROM nowhere")).first, {})
        assert await database.read(Prepared(select(organizations.c.id)).all, {}) != []


async def test_a_list_in_one_parameter_is_refused(database: Database) -> None:
    several = Prepared(select(outbox.c.id).where(outbox.c.id.in_(bindparam("ids", expanding=True))))
    with pytest.raises(TypeError, match="lists"):
        await database.read(several.all, {"ids": ["evt_1"]})
