"""What a campaign may spend: its budget, and the wallet."""

from decimal import Decimal

import pytest

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.call_price import MICROS
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service import accounts
from callwright.service.platform.money import amount
from callwright.service.rules.prices.price_list import SIMULATED, price_of
from tests.support.campaign_invariants import campaign_records, check_counters, check_dialled_once, check_everything
from tests.support.campaigns import draft, leave_in_wallet, people, run
from tests.support.prices import US
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=True)


@pytest.mark.requirement("STATE-08", "STATE-28")
async def test_a_campaign_pauses_before_it_exceeds_its_budget(tenant: Tenant) -> None:
    rows = people(80, sim_outcome="answered", sim_intent="yes")
    paused = await run(tenant, rows, budget_cap=Spend(amount="0.10"))
    assert (paused.status, paused.status_reason) == ("paused", "budget_reached")
    found = await campaign_records(tenant.database, paused.id)
    assert 100_000 - US.held_back < found.deployment.spend_micros <= 100_000
    assert (found.deployment.reserved_micros, found.wallet.reserved_micros) == (0, 0)

    await tenant.client.deployments.update(id=paused.id, budget_cap=Spend(amount="5.00"))
    await tenant.client.deployments.resume(id=paused.id)
    ended = await tenant.ended(paused.id)
    assert (ended.status, ended.stats.completed) == ("completed", 80)
    check_everything(await campaign_records(tenant.database, paused.id), RetryPolicy())


@pytest.mark.requirement("STATE-09")
async def test_a_campaign_pauses_when_the_wallet_cannot_hold_another_call(tenant: Tenant) -> None:
    made = await draft(tenant, people(80, sim_outcome="answered", sim_intent="yes"))
    await leave_in_wallet(tenant, 100_000)
    await tenant.client.deployments.start(id=made.id)
    paused = await tenant.ended(made.id)
    assert (paused.status, paused.status_reason) == ("paused", "insufficient_credits")
    services = tenant.services
    found = await campaign_records(services.database, made.id)
    assert 0 <= found.wallet.balance_micros < US.held_back
    check_dialled_once(found)
    check_counters(found)

    await services.database.write(accounts.fund, services.ids, tenant.org_id, 10 * MICROS, services.clock.now_ms())
    await tenant.client.deployments.resume(id=made.id)
    assert (await tenant.ended(made.id)).stats.completed == 80
    check_everything(await campaign_records(services.database, made.id), RetryPolicy(), extra_dollars=10)


async def test_unanswered_calls_are_free(tenant: Tenant) -> None:
    before = await tenant.client.wallet.get()
    ended = await run(tenant, people(20, sim_outcome="no_answer"))
    found = await campaign_records(tenant.database, ended.id)
    assert (ended.stats.attempts, ended.stats.spend.amount) == (60, "0.000000")
    assert [movement.type for movement in found.transactions] == ["topup", "number_rental"]
    after = await tenant.client.wallet.get()
    assert Decimal(before.balance.amount) - Decimal(after.balance.amount) == Decimal("1.15")


@pytest.mark.requirement("RES-15")
async def test_each_charge_names_its_call_and_is_by_the_second(tenant: Tenant) -> None:
    ended = await run(tenant, people(5, sim_outcome="answered", sim_intent="yes"))
    charges = [
        movement async for movement in tenant.client.wallet.list_transactions() if movement.type == "call_charge"
    ]
    by_call = {movement.reference.id: movement for movement in charges if movement.reference is not None}
    listed = [call async for call in tenant.client.calls.list(deployment_id=ended.id)]
    assert {call.id for call in listed} == set(by_call)
    for call in listed:
        assert call.cost is not None
        assert by_call[call.id].amount.amount == f"-{call.cost.amount}"
        assert Decimal(call.cost.amount) == call.billed_seconds * Decimal("0.0002")


@pytest.mark.requirement("EVENT-18")
async def test_the_low_balance_is_told_once(tenant: Tenant) -> None:
    made = await draft(tenant, people(60, sim_outcome="answered", sim_intent="yes"))
    await leave_in_wallet(tenant, 10 * MICROS + 1_000)
    await tenant.client.deployments.start(id=made.id)
    await tenant.ended(made.id)
    found = await campaign_records(tenant.database, made.id)
    assert [row.type for row, _ in found.events].count("wallet.low_balance") == 1
    assert found.wallet.low


@pytest.mark.requirement("WALLET-02")
async def test_the_highest_price_of_the_audience_bounds_the_cost_and_each_call_costs_its_own(tenant: Tenant) -> None:
    numbers = ("+12125550191", "+4915112345678", "+4930123456")
    rows = [{"phone_number": number, "first_name": "A", "sim.outcome": "answered"} for number in numbers]
    made = await draft(tenant, rows, retry_policy=RetryPolicy(max_attempts=1), max_call_duration_seconds=300)
    preview = await tenant.client.deployments.preview(id=made.id)
    dearest = price_of(SIMULATED, numbers[1])
    assert preview.cost.high.amount == amount(3 * dearest.call(300))
    await tenant.client.deployments.start(id=made.id)
    await tenant.ended(made.id)
    found = await campaign_records(tenant.database, made.id)
    prices = {call.to_number: price_of(SIMULATED, call.to_number) for call in found.calls}
    assert {price.minute for price in prices.values()} == {12_000, 16_000, 34_000}
    for call in found.calls:
        assert call.cost_micros == prices[call.to_number].call(call.billed_seconds) > 0
        assert call.reserved_micros >= prices[call.to_number].held_back
