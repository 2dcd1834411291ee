"""Refunds of calls, and wallets that are frozen."""

from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Connection, select

from callwright.contract.deployments.deployments import Deployment
from callwright.service import accounts
from callwright.service.tables.schema import audit_log, outbox
from tests.support.campaign_invariants import campaign_records
from tests.support.campaigns import claim_and_die, driver_of, people, run, started
from tests.support.resources import refusal
from tests.support.service import Tenant
from tests.support.tasks import tasks_within


async def refunded(tenant: Tenant, call_id: str, micros: int | None = None) -> accounts.Refund:
    services = tenant.services
    given = (services.ids, tenant.org_id, call_id, micros, services.clock.now_ms())
    return await services.database.write(accounts.refund_call, *given)


async def written(tenant: Tenant, action: str) -> list[Any]:
    found = select(audit_log.c.subject).where(audit_log.c.action == action)
    return await tenant.database.read(lambda connection: list(connection.execute(found).scalars()))


async def charged_call(tenant: Tenant) -> tuple[str, int]:
    """A call that was charged, and its cost in micros."""
    ended = await run(tenant, people(1, sim_outcome="answered", sim_intent="yes"))
    call = (await campaign_records(tenant.database, ended.id)).calls[0]
    return call.id, call.cost_micros


@pytest.mark.requirement("WALLET-05", "WALLET-03")
@pytest.mark.service(workers=True)
async def test_a_call_is_paid_back_once_whatever_is_asked_at_the_same_time(tenant: Tenant) -> None:
    call_id, cost = await charged_call(tenant)
    call = await tenant.client.calls.get(call_uuid=call_id)
    assert call.cost is not None
    assert [item.item for item in call.cost.breakdown] == ["telephony", "platform"]
    assert sum(Decimal(item.amount or 0) for item in call.cost.breakdown) == Decimal(call.cost.amount)
    before = (await tenant.client.wallet.get()).balance
    made: list[accounts.Refund] = []

    async def ask() -> None:
        made.append(await refunded(tenant, call_id))

    async with tasks_within(30) as tasks:
        for _ in range(5):
            tasks.start_soon(ask)
    assert sorted(one.is_new for one in made) == [False] * 4 + [True]
    assert {one.micros for one in made} == {cost}
    after = (await tenant.client.wallet.get()).balance
    assert Decimal(after.amount) - Decimal(before.amount) == Decimal(call.cost.amount)
    (booked,) = (await tenant.client.wallet.list_transactions(type=["refund"])).data
    assert booked.reference is not None
    assert (booked.reference.id, booked.amount.amount) == (call_id, call.cost.amount)
    assert await written(tenant, "call.refunded") == [call_id]


@pytest.mark.requirement("WALLET-05")
@pytest.mark.service(workers=True)
async def test_a_refund_is_refused_beyond_the_cost_of_an_unknown_call_and_with_another_amount(tenant: Tenant) -> None:
    call_id, cost = await charged_call(tenant)
    for micros in (0, -1, cost + 1):
        with pytest.raises(accounts.AccountError, match="--amount must be above zero and at most"):
            await refunded(tenant, call_id, micros)
    with pytest.raises(accounts.AccountError, match="no call cal_unknown was charged"):
        await refunded(tenant, "cal_unknown")
    async with tenant.another_organization() as other:
        with pytest.raises(accounts.AccountError, match="was charged to this organization"):
            await refunded(other, call_id)
    assert (await refunded(tenant, call_id, cost - 1)).is_new
    with pytest.raises(accounts.AccountError, match="a call is refunded once"):
        await refunded(tenant, call_id, 1)
    assert not (await refunded(tenant, call_id)).is_new


@pytest.mark.requirement("WALLET-05")
@pytest.mark.service(workers=True)
async def test_a_call_that_failed_by_our_own_fault_costs_nothing(tenant: Tenant) -> None:
    ended = await run(tenant, people(2, sim_outcome="failed"))
    found = await campaign_records(tenant.database, ended.id)
    assert {(call.status, call.hangup_cause, call.cost_micros) for call in found.calls} == {
        ("failed", "network_error", 0)
    }


async def set_status(tenant: Tenant, status: accounts.WalletStatus) -> bool:
    services = tenant.services
    given = (services.ids, tenant.org_id, status, services.clock.now_ms())
    return await services.database.write(accounts.set_wallet_status, *given)


async def driven(tenant: Tenant, made: Deployment, owner: str) -> Deployment:
    await driver_of(tenant, owner).drive(made.id)
    return await tenant.client.deployments.get(id=made.id)


@pytest.mark.requirement("WALLET-07")
async def test_a_frozen_wallet_pays_no_new_call_and_calls_under_way_are_charged(tenant: Tenant) -> None:
    made = await started(tenant, people(15, sim_outcome="answered", sim_intent="yes"))
    await claim_and_die(tenant, made.id)
    assert [await set_status(tenant, "frozen") for _ in range(2)] == [True, False]
    assert (await tenant.client.wallet.get()).status == "frozen"
    paused = await driven(tenant, made, "wrk_test")
    assert (paused.status, paused.status_reason, paused.stats.attempts) == ("paused", "wallet_frozen", 10)
    found = await campaign_records(tenant.database, made.id)
    assert found.deployment.spend_micros == sum(call.cost_micros for call in found.calls) > 0
    async with refusal(422, "wallet_frozen"):
        await tenant.client.deployments.resume(id=made.id)
    async with refusal(422, "wallet_frozen"):
        await tenant.client.phone_numbers.rent(country="US")
    assert any("is frozen" in problem for problem in (await tenant.client.deployments.preview(id=made.id)).problems)
    assert await set_status(tenant, "active")
    await tenant.client.deployments.resume(id=made.id)
    assert await written(tenant, "wallet.frozen") == await written(tenant, "wallet.unfrozen") == [tenant.org_id]

    def reasons(connection: Connection) -> list[str]:
        paused = select(outbox.c.data).where(outbox.c.type == "deployment.paused")
        return [data for data in connection.execute(paused).scalars() if "wallet_frozen" in data]

    assert len(await tenant.database.read(reasons)) == 1
