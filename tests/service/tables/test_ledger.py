"""The ledger: the balance is the sum of its movements, and low balances are told once."""

import json
from typing import Any

import pytest
from sqlalchemy import Connection, func, select, update

from callwright.contract.deployments.call_price import MICROS
from callwright.service.tables import schema
from callwright.service.tables.ledger import Movement, book, check, wallet_of
from callwright.service.tables.schema import outbox, transactions
from tests.support.service import Tenant
from tests.support.tasks import tasks_within


async def booked(tenant: Tenant, *micros: int, reserved: int = 0) -> int:
    """The balance after movements of these amounts."""
    services = tenant.services
    movements = [Movement("adjustment", amount, "call", "cal_1", "a test") for amount in micros]

    def work(connection: Connection) -> int:
        return book(
            connection, services.ids, tenant.org_id, movements, now_ms=services.clock.now_ms(), reserved_micros=reserved
        )

    return await services.database.write(work)


async def low_events(tenant: Tenant) -> list[dict[str, Any]]:
    """What subscribers are told about low balances."""
    statement = select(outbox.c.data).where(outbox.c.org_id == tenant.org_id, outbox.c.type == "wallet.low_balance")
    found = await tenant.database.read(lambda connection: list(connection.execute(statement).scalars()))
    return [json.loads(data) for data in found]


async def test_movements_move_the_balance_and_remember_it(tenant: Tenant) -> None:
    assert await booked(tenant, -MICROS, 2 * MICROS, -1) == 100_999_999
    after = select(transactions.c.balance_after_micros).where(transactions.c.type == "adjustment")
    kept = await tenant.database.read(lambda connection: set(connection.execute(after).scalars()))
    assert kept == {99_000_000, 101_000_000, 100_999_999}
    assert (await tenant.client.wallet.get()).balance.amount == "100.999999"


async def test_what_is_held_back_is_not_available_and_is_no_movement(tenant: Tenant) -> None:
    assert await booked(tenant, reserved=24_000) == 100 * MICROS
    wallet = await tenant.client.wallet.get()
    assert (wallet.reserved.amount, wallet.available.amount) == ("0.024000", "99.976000")
    await booked(tenant, -8_400, reserved=-24_000)
    wallet = await tenant.client.wallet.get()
    assert (wallet.balance.amount, wallet.reserved.amount) == ("99.991600", "0.000000")


@pytest.mark.requirement("EVENT-18")
async def test_a_low_balance_is_told_once_for_each_drop(tenant: Tenant) -> None:
    await booked(tenant, -90 * MICROS)
    assert await low_events(tenant) == []
    assert not (await tenant.client.wallet.get()).low_balance
    await booked(tenant, -1)
    await booked(tenant, -1)
    told = await low_events(tenant)
    assert [event["balance"] for event in told] == ["9.999999"]
    assert (told[0]["threshold"], told[0]["currency"], told[0]["play_money"]) == ("10.000000", "USD", True)
    assert (await tenant.client.wallet.get()).low_balance
    await booked(tenant, 2)
    await booked(tenant, -5)
    assert [event["balance"] for event in await low_events(tenant)] == ["9.999999", "9.999995"]


@pytest.mark.requirement("WALLET-06", "EVENT-18")
async def test_movements_at_the_same_time_tell_each_drop_below_the_threshold_once(tenant: Tenant) -> None:
    await booked(tenant, -90 * MICROS)
    for drop in range(1, 4):
        async with tasks_within(30) as tasks:
            for _ in range(10):
                tasks.start_soon(booked, tenant, -1_000)
        assert len(await low_events(tenant)) == drop
        async with tasks_within(30) as tasks:
            for _ in range(10):
                tasks.start_soon(booked, tenant, 1_000)  # at the threshold again: the warning is re-armed
        assert not (await tenant.client.wallet.get()).low_balance
    assert len(await low_events(tenant)) == 3


@pytest.mark.requirement("WALLET-01")
@pytest.mark.service(checks_ledgers=False)
async def test_the_check_names_each_account_that_does_not_add_up(tenant: Tenant) -> None:
    def found(connection: Connection) -> list[str]:
        return check(connection, tenant.org_id)

    await booked(tenant, -MICROS, reserved=24_000)
    assert await tenant.database.read(found) == []
    accounts = schema.ledger_accounts
    more = update(accounts).where(accounts.c.account == "calls").values(balance_micros=accounts.c.balance_micros + 1)
    await tenant.database.write(lambda connection: connection.execute(more).rowcount)
    assert await tenant.database.read(found) == [
        "all accounts together hold 0.000001, not zero",
        "calls holds 0.000001, but its transactions sum to 0.000000",
    ]
    held = update(schema.wallets).values(reserved_micros=0)
    await tenant.database.write(lambda connection: connection.execute(held).rowcount)
    assert (await tenant.database.read(found))[-2:] == [
        "wallet holds 98.976000, but the wallet says 99.000000",
        "reserved holds 0.024000, but the wallet says 0.000000",
    ]


async def test_movements_at_the_same_time_all_count(tenant: Tenant) -> None:
    async with tasks_within(30) as tasks:
        for _ in range(50):
            tasks.start_soon(booked, tenant, -10_000)

    def look(connection: Connection) -> tuple[int, int]:
        total = select(func.sum(transactions.c.amount_micros)).where(transactions.c.org_id == tenant.org_id)
        return wallet_of(connection, tenant.org_id).balance_micros, int(connection.execute(total).scalar_one())

    assert await tenant.database.read(look) == (99_500_000, 99_500_000)
