"""What falls due with time, under a clock that is put forward."""

from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import Connection, func, insert, select

from callwright.contract.phone_numbers import PhoneNumber
from callwright.service import accounts
from callwright.service.accounts.principals import SERVICE
from callwright.service.platform.clock.clock import DAY
from callwright.service.platform.database.postgres.lock_waits import Locked
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.tables import audit_log, schema
from callwright.service.tables.audit_log import entry_row
from callwright.service.workers import sweeps
from tests.support.campaigns import leave_in_wallet, rent
from tests.support.service import Tenant
from tests.support.sweeps import sweep_after
from tests.support.tasks import tasks_within

MONTH = timedelta(days=30)


async def again(tenant: Tenant, number: PhoneNumber) -> PhoneNumber:
    return await tenant.client.phone_numbers.get(id=number.id)


async def rents(tenant: Tenant) -> list[str]:
    """What was paid for numbers, the latest first."""
    listed = tenant.client.wallet.list_transactions()
    return [movement.amount.amount async for movement in listed if movement.type == "number_rental"]


async def test_a_number_is_paid_for_every_month_and_once(tenant: Tenant) -> None:
    number = await rent(tenant)
    assert number.renews_at is not None
    await sweep_after(tenant, 29.9)
    assert await rents(tenant) == ["-1.150000"]
    for _ in range(3):
        await sweep_after(tenant, 30.1)
    assert await rents(tenant) == ["-1.150000"] * 2
    renewed = await again(tenant, number)
    assert (renewed.status, renewed.renews_at) == ("active", number.renews_at + MONTH)
    assert (await tenant.client.wallet.get()).balance.amount == "97.700000"


async def test_months_that_were_missed_are_paid_one_by_one(tenant: Tenant) -> None:
    number = await rent(tenant)
    for _ in range(5):
        await sweep_after(tenant, 70)
    assert len(await rents(tenant)) == 3
    renewed = await again(tenant, number)
    assert number.renews_at is not None
    assert renewed.renews_at == number.renews_at + 2 * MONTH


async def test_a_number_that_is_not_to_be_renewed_is_released_when_its_month_is_over(tenant: Tenant) -> None:
    number = await tenant.client.phone_numbers.rent(country="US", auto_renew=False)
    await sweep_after(tenant, 29.9)
    assert (await again(tenant, number)).status == "active"
    await sweep_after(tenant, 30.1)
    released = await again(tenant, number)
    assert (released.status, released.renews_at) == ("released", None)
    assert released.released_at is not None
    assert len(await rents(tenant)) == 1


@pytest.mark.requirement("WALLET-08")
async def test_a_number_that_cannot_be_paid_is_past_due_for_a_week_and_then_released(tenant: Tenant) -> None:
    number = await rent(tenant)
    await leave_in_wallet(tenant, 1_149_999)
    for days in (30.1, 30.2, 31.2, 34, 36.9):
        await sweep_after(tenant, days)
        late = await again(tenant, number)
        assert (late.status, late.billing_status, late.renews_at) == ("active", "past_due", number.renews_at)
    await sweep_after(tenant, 37.95)
    released = await again(tenant, number)
    assert (released.status, released.renews_at) == ("released", None)
    assert (await tenant.client.wallet.get()).balance.amount == "1.149999"


@pytest.mark.requirement("WALLET-08")
async def test_a_month_that_is_past_due_is_paid_the_day_after_the_wallet_covers_it_and_once(tenant: Tenant) -> None:
    number = await rent(tenant)
    await leave_in_wallet(tenant, 0)
    await sweep_after(tenant, 30.1)
    services = tenant.services
    await services.database.write(accounts.fund, services.ids, tenant.org_id, 9_000_000, services.clock.now_ms())
    await sweep_after(tenant, 30.5)
    assert (await again(tenant, number)).billing_status == "past_due"
    for _ in range(2):
        async with tasks_within(30) as tasks:
            for _ in range(4):
                tasks.start_soon(sweep_after, tenant, 31.2)
    paid = await again(tenant, number)
    assert number.renews_at is not None
    assert (paid.billing_status, paid.renews_at) == ("current", number.renews_at + MONTH)
    assert len(await rents(tenant)) == 2


@pytest.mark.requirement("WALLET-08")
async def test_a_clock_that_goes_back_renews_nothing_again_and_a_release_gives_nothing_back(tenant: Tenant) -> None:
    number = await rent(tenant)
    for days in (30.1, 29.0, 30.1, 0.0, 59.9):
        await sweep_after(tenant, days)
    assert len(await rents(tenant)) == 2
    await tenant.client.phone_numbers.release(id=number.id)
    await sweep_after(tenant, 90)
    assert len(await rents(tenant)) == 2
    assert (await tenant.client.wallet.get()).balance.amount == "97.700000"


async def test_each_step_is_written_into_the_audit(tenant: Tenant) -> None:
    kept, dropped = await rent(tenant), await tenant.client.phone_numbers.rent(country="CA", auto_renew=False)
    await sweep_after(tenant, 30.1)
    actions = select(schema.audit_log.c.action).where(schema.audit_log.c.subject.in_([kept.id, dropped.id]))

    def written(connection: Connection) -> list[str]:
        return list(connection.execute(actions).scalars())

    found = await tenant.database.read(written)
    assert found.count("phone_number.renewed") == found.count("phone_number.released") == 1


async def entries_left(tenant: Tenant, org_id: str) -> int:
    count = select(func.count()).where(schema.audit_log.c.org_id == org_id, schema.audit_log.c.action == "old")
    return await tenant.database.read(lambda connection: connection.execute(count).scalar_one())


@pytest.mark.requirement("AUTH-46")
async def test_audit_entries_are_deleted_after_a_year_some_at_a_time(
    tenant: Tenant, other: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_log, "forget", partial(audit_log.forget, most=3))
    first_ms = tenant.services.clock.now_ms() - 10 * DAY
    rows = [
        entry_row(tenant.services.ids, org_id, "old", "agt_1", by=SERVICE, at_ms=first_ms + later_ms)
        for org_id in (tenant.org_id, other.org_id)
        for later_ms in (0, 0, 0, 0, DAY)
    ]
    await tenant.database.write(lambda connection: connection.execute(insert(schema.audit_log), rows).rowcount)
    left: list[tuple[int, int]] = []
    for days in (354.9, 355.1, 355.1, 355.1, 356.1):
        await sweep_after(tenant, days)
        left.append((await entries_left(tenant, tenant.org_id), await entries_left(tenant, other.org_id)))
    assert left[0] == (5, 5)
    assert left[1] == (2, 2)
    assert left[2] == left[3] == (1, 1)
    assert left[-1] == (0, 0)


@pytest.mark.parametrize("failure", [Locked("held by others"), StorageUnavailable("away")], ids=type)
async def test_uses_of_keys_that_cannot_be_written_down_are_kept_for_the_next_sweep(
    failure: Exception, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = tenant.services

    async def fail(*_: object) -> None:
        services.used_keys["key_again"] = 9
        raise failure

    services.used_keys.clear()
    services.used_keys.update({"key_once": 5, "key_again": 6})
    with monkeypatch.context() as patched:
        patched.setattr(services.database, "write", fail)
        patched.setattr(services.limits, "keep", fail_not)
        if isinstance(failure, Locked):
            await sweeps.record_key_uses(services)
        else:
            with pytest.raises(StorageUnavailable):
                await sweeps.record_key_uses(services)
    assert services.used_keys == {"key_once": 5, "key_again": 9}
    await sweeps.record_key_uses(services)
    assert services.used_keys == {}


async def fail_not(_: int) -> None:
    """Writes down nothing."""
