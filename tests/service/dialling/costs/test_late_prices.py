"""Carriers say later what they charged: it changes the call, its campaign and the ledger once."""

from decimal import Decimal
from functools import partial

import anyio
import pytest
from sqlalchemy import Connection, func, select, update

from callwright.contract.calls.calls import Call
from callwright.contract.calls.costs import CostItem
from callwright.service.accounts.refunds import refund_call
from callwright.service.dialling.late_charges import settle
from callwright.service.rules import review_thresholds
from callwright.service.tables.awaited_charges import GIVEN_UP_AFTER_MS, LONGEST_PAUSE_MS, pause_ms
from callwright.service.tables.schema import awaited_charges
from callwright.service.telephony.legs.carrier import Charge
from callwright.service.workers import late_charges
from tests.service.dialling.costs.amounts import charged, micros
from tests.support.campaigns import ONCE, calls_of, people
from tests.support.ledger_check import check_ledgers
from tests.support.priced_calls import SERVICES_MICROS, USED, real_draft, start_by_plan, take_prices
from tests.support.scripted_carrier import ScriptedCarrier, driven_on_lines, lines_of
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=False)


async def called(tenant: Tenant, carrier: ScriptedCarrier, count: int = 1, **fields: object) -> list[Call]:
    """The calls of a campaign that was made on lines of the carrier."""
    await take_prices(tenant)
    made = await real_draft(tenant, people(count), retry_policy=ONCE, **fields)
    await start_by_plan(tenant, made.id)
    async with lines_of(tenant, carrier):
        await driven_on_lines(tenant, made.id)
    return await calls_of(tenant, made.id)


async def ask(tenant: Tenant, carrier: ScriptedCarrier) -> None:
    """Asks the carrier for all that it has not said, whenever it was to be asked."""
    await tenant.services.database.write(_due_now)
    await late_charges.run(tenant.services, {carrier.name: carrier})


def _due_now(connection: Connection) -> None:
    connection.execute(update(awaited_charges).values(next_at=0))


async def awaited(tenant: Tenant) -> int:
    return await tenant.services.database.read(
        lambda connection: connection.execute(select(func.count()).select_from(awaited_charges)).scalar_one()
    )


async def telephony(tenant: Tenant, call_id: str) -> CostItem:
    call = await tenant.client.calls.get(call_uuid=call_id)
    assert call.cost is not None
    (item,) = [one for one in call.cost.breakdown if one.item == "telephony"]
    assert micros(call.cost.amount) == sum(micros(one.amount) for one in call.cost.breakdown)
    return item


def dollars(text: str) -> Charge:
    return Charge("telephony", Decimal(text), "USD")


@pytest.mark.requirement("COST-04")
async def test_a_late_price_changes_the_call_the_campaign_and_the_ledger_once(tenant: Tenant) -> None:
    carrier = ScriptedCarrier(talk_s=0.05, used=USED)
    (call,) = await called(tenant, carrier, daily_budget_cap={"amount": "5.00"})
    await ask(tenant, carrier)  # it does not know yet
    assert (await telephony(tenant, call.id)).status == "pending"
    carrier.charges["CA1"] = dollars("0.0085")
    await ask(tenant, carrier)
    item = await telephony(tenant, call.id)
    assert (item.amount, item.status, item.priced_by) == ("0.008500", "known", "carrier")
    assert item.carrier_charged is not None
    assert (item.carrier_charged.amount, item.carrier_charged.currency) == ("0.008500", "USD")
    for _ in range(2):  # it is told twice
        assert not await tenant.services.database.write(
            partial(settle, now_ms=1), tenant.services.ids, call.id, dollars("0.0085")
        )
    assert await charged(tenant, call.id) == 8_500 + 6_000 + SERVICES_MICROS
    found = [one async for one in tenant.client.wallet.list_transactions(reference_id=call.id)]
    assert sorted((one.type, micros(one.amount.amount)) for one in found) == [
        ("adjustment", 3_500),
        ("call_charge", -(18_000 + SERVICES_MICROS)),
    ]
    made = await tenant.client.deployments.get(id=call.deployment_id or "")
    assert made.stats is not None
    assert micros(made.stats.spend.amount) == 8_500 + 6_000 + SERVICES_MICROS
    await check_ledgers(tenant.services.database)


@pytest.mark.requirement("COST-04")
async def test_of_two_that_settle_a_price_at_once_one_does_and_a_process_that_ends_before_leaves_it_to_be_asked_again(
    tenant: Tenant,
) -> None:
    carrier = ScriptedCarrier(talk_s=0.05)
    (call,) = await called(tenant, carrier)
    database, ids = tenant.services.database, tenant.services.ids
    settled: list[bool] = []

    def ends_before_its_commit(connection: Connection) -> None:
        settle(connection, ids, call.id, dollars("0.001"), now_ms=1)
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await database.write(ends_before_its_commit)
    assert (await telephony(tenant, call.id)).status == "pending"
    assert await charged(tenant, call.id) == 18_000

    async def settles() -> None:
        settled.append(await database.write(partial(settle, now_ms=1), ids, call.id, dollars("0.004")))

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(settles)
    assert sorted(settled) == [False, False, False, True]
    assert await charged(tenant, call.id) == 10_000
    await check_ledgers(tenant.services.database)


@pytest.mark.requirement("COST-04")
async def test_two_processes_that_look_at_once_ask_the_carrier_once_for_each_call(tenant: Tenant) -> None:
    carrier = ScriptedCarrier(talk_s=0.05)
    calls = await called(tenant, carrier, 3)
    carrier.charges |= {f"CA{at}": dollars("0.002") for at in (1, 2, 3)}
    await tenant.services.database.write(_due_now)
    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(late_charges.run, tenant.services, {carrier.name: carrier})
    assert sorted(carrier.asked_for) == ["CA1", "CA2", "CA3"]
    assert [await charged(tenant, call.id) for call in calls] == [8_000] * 3
    assert await awaited(tenant) == 0


async def test_a_call_that_was_refunded_gets_nothing_back_a_second_time(tenant: Tenant) -> None:
    carrier = ScriptedCarrier(talk_s=0.05, charges={"CA1": dollars("0.002")})
    (call,) = await called(tenant, carrier)
    services = tenant.services
    await services.database.write(refund_call, services.ids, tenant.org_id, call.id, None, services.clock.now_ms())
    await ask(tenant, carrier)
    assert await charged(tenant, call.id) == 0
    assert (await telephony(tenant, call.id)).status == "estimated"
    assert await awaited(tenant) == 0


async def test_a_call_is_refunded_with_what_it_costs_after_a_late_price(tenant: Tenant) -> None:
    carrier = ScriptedCarrier(talk_s=0.05, charges={"CA1": dollars("0.002")})
    (call,) = await called(tenant, carrier)
    await ask(tenant, carrier)
    services = tenant.services
    await services.database.write(refund_call, services.ids, tenant.org_id, call.id, None, services.clock.now_ms())
    assert await charged(tenant, call.id) == 0
    await check_ledgers(services.database)


@pytest.mark.requirement("COST-03")
async def test_a_carrier_that_charges_more_than_the_list_is_shown_and_the_wallet_pays_the_list(tenant: Tenant) -> None:
    carrier = ScriptedCarrier(talk_s=0.05, charges={"CA1": dollars("3.50")})
    (call,) = await called(tenant, carrier)
    await ask(tenant, carrier)
    item = await telephony(tenant, call.id)
    assert (item.amount, item.status) == ("0.012000", "known")
    assert item.carrier_charged is not None
    assert item.carrier_charged.amount == "3.500000"
    assert await charged(tenant, call.id) == 18_000


@pytest.mark.requirement("COST-05")
@pytest.mark.parametrize(
    ("currency", "amount", "status"), [("EUR", "0.005800", "known"), ("GBP", "0.012000", "estimated")]
)
async def test_a_price_in_another_currency_is_converted_by_the_list_or_not_booked(
    tenant: Tenant, currency: str, amount: str, status: str
) -> None:
    carrier = ScriptedCarrier(talk_s=0.05, charges={"CA1": Charge("telephony", Decimal("0.005"), currency)})
    (call,) = await called(tenant, carrier)
    await ask(tenant, carrier)
    item = await telephony(tenant, call.id)
    assert (item.amount, item.status) == (amount, status)
    assert item.carrier_charged is not None
    assert (item.carrier_charged.amount, item.carrier_charged.currency) == ("0.005000", currency)
    assert await charged(tenant, call.id) == micros(amount) + 6_000
    assert await awaited(tenant) == 0


@pytest.mark.requirement("COST-06")
async def test_a_carrier_that_never_says_is_asked_less_and_less_often_and_the_list_s_price_stays_as_an_estimate(
    tenant: Tenant,
) -> None:
    carrier = ScriptedCarrier(talk_s=0.05)
    (call,) = await called(tenant, carrier)
    await ask(tenant, carrier)
    await late_charges.run(tenant.services, {carrier.name: carrier})  # it is not due again
    assert carrier.asked_for == ["CA1"]
    pauses = [pause_ms(asked) for asked in range(40)]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (60_000, LONGEST_PAUSE_MS)
    await tenant.services.database.write(_ended_earlier)
    await ask(tenant, carrier)
    item = await telephony(tenant, call.id)
    assert (item.amount, item.status, item.priced_by) == ("0.012000", "estimated", "price_list")
    assert await charged(tenant, call.id) == 18_000
    assert await awaited(tenant) == 0


def _ended_earlier(connection: Connection) -> None:
    earlier = awaited_charges.c.ended_at - GIVEN_UP_AFTER_MS - 1
    connection.execute(update(awaited_charges).values(ended_at=earlier))


@pytest.mark.parametrize("charge", ["fails", "-0.01", "NaN", "1e12"])
async def test_what_a_carrier_cannot_have_charged_changes_nothing(tenant: Tenant, charge: str) -> None:
    carrier = ScriptedCarrier(talk_s=0.05)
    (call,) = await called(tenant, carrier)
    if charge == "fails":
        carrier.charge_fails = True
    else:
        carrier.charges["CA1"] = dollars(charge)
    await ask(tenant, carrier)
    assert (await telephony(tenant, call.id)).status == "pending"
    assert await charged(tenant, call.id) == 18_000


@pytest.mark.requirement("COST-01")
@pytest.mark.requirement("COST-04")
async def test_a_campaign_of_100_calls_with_four_items_each_costs_what_the_imitations_billed(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_thresholds, "SHORT_CALL_MS", 0)  # so many short calls are looked at by a person
    carrier = ScriptedCarrier(talk_s=0.05, used=USED)
    calls = await called(tenant, carrier, 100, max_concurrency=20, calls_per_second=100.0)
    billed = 0
    for at in range(100):
        price = 2_000 + 100 * at  # at most what the list has
        carrier.charges[f"CA{at + 1}"] = Charge("telephony", Decimal(price) / 1_000_000, "USD")
        billed += price + SERVICES_MICROS + 6_000
    while await awaited(tenant):
        await ask(tenant, carrier)
    assert len(calls) == 100
    total = 0
    for call in [await tenant.client.calls.get(call_uuid=call.id) for call in calls]:
        assert call.cost is not None
        assert {one.item for one in call.cost.breakdown} == {"telephony", "platform", "stt", "llm", "tts"}
        assert {one.status for one in call.cost.breakdown} == {"known"}
        assert await charged(tenant, call.id) == micros(call.cost.amount)
        total += micros(call.cost.amount)
    assert total == billed
    made = await tenant.client.deployments.get(id=calls[0].deployment_id or "")
    assert made.stats is not None
    assert micros(made.stats.spend.amount) == billed
    stats = await tenant.client.calls.stats(deployment_id=made.id)
    assert stats.cost is not None
    assert micros(stats.cost.total.amount) == billed
    await check_ledgers(tenant.services.database)


@pytest.mark.parametrize(("currency", "status", "told"), [("eur", "known", "EUR"), ("dollars", "estimated", None)])
async def test_a_currency_is_a_code_of_three_letters_or_the_charge_is_not_known(
    tenant: Tenant, currency: str, status: str, told: str | None
) -> None:
    carrier = ScriptedCarrier(talk_s=0.05, charges={"CA1": Charge("telephony", Decimal("0.005"), currency)})
    (call,) = await called(tenant, carrier)
    await ask(tenant, carrier)
    item = await telephony(tenant, call.id)
    shown = item.carrier_charged and item.carrier_charged.currency
    assert (item.status, shown) == (status, told)
