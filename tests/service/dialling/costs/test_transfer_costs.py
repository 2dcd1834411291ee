"""The call to a person is on the bill of the call that was transferred: at once, late, and within what was agreed."""

from decimal import Decimal
from functools import partial

import pytest
from sqlalchemy import Connection, func, select, update

from callwright.contract.calls.calls import Call
from callwright.contract.calls.costs import CostItem
from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.maximum_cost import rounded_up
from callwright.service.dialling.late_charges import settle
from callwright.service.rules import review_thresholds
from callwright.service.rules.prices.transfer_prices import TransferLeg
from callwright.service.tables.schema import awaited_charges
from callwright.service.telephony.legs.carrier import Charge
from callwright.service.workers import late_charges
from tests.service.dialling.costs.amounts import charged, micros
from tests.support.campaign_invariants import campaign_records, check_counters
from tests.support.campaigns import ONCE, calls_of, leave_in_wallet, people, phone, run, working
from tests.support.ledger_check import check_ledgers
from tests.support.priced_calls import real_draft, start_by_plan, take_prices, transferring_agent
from tests.support.scripted_carrier import ScriptedCarrier, driven_on_lines, lines_of
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=False)
DESK, ABROAD = "+12125550177", "+493012345678"
TALK_S = 0.05


def leg(to: str = DESK, sid: str | None = "CA_person") -> TransferLeg:
    return TransferLeg(to, 0.01, 0.04, sid)


def dollars(text: str) -> Charge:
    return Charge("telephony", Decimal(text), "USD")


def items_of(call: Call) -> list[tuple[str, str | None, str | None, str | None]]:
    assert call.cost is not None
    assert micros(call.cost.amount) == sum(micros(one.amount) for one in call.cost.breakdown)
    return [(one.item, one.amount, one.status, one.priced_by) for one in call.cost.breakdown]


def persons_of(call: Call) -> list[CostItem]:
    assert call.cost is not None
    return [one for one in call.cost.breakdown if one.item == "transfer"]


async def called(tenant: Tenant, carrier: ScriptedCarrier, count: int, *to: str, **fields: object) -> list[Call]:
    """The calls of a campaign whose agent may transfer them to these numbers, on lines of the carrier."""
    await take_prices(tenant)
    countries = ["DE"] if ABROAD in to else []
    agent_id = await transferring_agent(tenant, *to, countries=countries)
    made = await real_draft(tenant, people(count), agent_id=agent_id, retry_policy=ONCE, **fields)
    await start_by_plan(tenant, made.id)
    async with lines_of(tenant, carrier):
        await driven_on_lines(tenant, made.id)
    return await calls_of(tenant, made.id)


async def ask(tenant: Tenant, carrier: ScriptedCarrier) -> None:
    """Asks the carrier for all that it has not said, whenever it was to be asked."""

    def due_now(connection: Connection) -> None:
        connection.execute(update(awaited_charges).values(next_at=0))

    await tenant.services.database.write(due_now)
    await late_charges.run(tenant.services, {carrier.name: carrier})


async def awaited(tenant: Tenant) -> int:
    return await tenant.services.database.read(
        lambda connection: connection.execute(select(func.count()).select_from(awaited_charges)).scalar_one()
    )


@pytest.mark.requirement("COST-10")
async def test_the_calls_to_persons_are_items_by_the_prices_of_their_numbers(tenant: Tenant) -> None:
    carrier = ScriptedCarrier(talk_s=TALK_S, persons={phone(0): (leg(), leg(ABROAD, "CA_second"))})
    (call,) = await called(tenant, carrier, 1, DESK, ABROAD)
    call = await tenant.client.calls.get(call_uuid=call.id)
    assert items_of(call) == [
        ("telephony", "0.012000", "pending", "price_list"),
        ("platform", "0.006000", "known", "agreed"),
        ("transfer", "0.018000", "pending", "price_list"),
        ("transfer", "0.120000", "pending", "price_list"),
    ]
    assert [(one.quantity, one.unit, one.provider) for one in persons_of(call)] == [(60, "second", "scripted")] * 2
    assert await charged(tenant, call.id) == 12_000 + 6_000 + 18_000 + 120_000
    assert await awaited(tenant) == 3
    await check_ledgers(tenant.services.database)


@pytest.mark.requirement("COST-10", "COST-04")
async def test_late_prices_of_a_call_and_of_its_person_are_each_settled_once(tenant: Tenant) -> None:
    carrier = ScriptedCarrier(talk_s=TALK_S, persons={phone(0): (leg(),)})
    (call,) = await called(tenant, carrier, 1, DESK, daily_budget_cap={"amount": "5.00"})
    carrier.charges["CA_person"] = dollars("0.0095")
    await ask(tenant, carrier)
    assert [status for _, _, status, _ in items_of(await tenant.client.calls.get(call_uuid=call.id))] == [
        *("pending", "known", "known")
    ]
    assert await charged(tenant, call.id) == 18_000 + 9_500
    carrier.charges["CA1"] = dollars("0.0085")
    await ask(tenant, carrier)
    shown = await tenant.client.calls.get(call_uuid=call.id)
    assert items_of(shown) == [
        ("telephony", "0.008500", "known", "carrier"),
        ("platform", "0.006000", "known", "agreed"),
        ("transfer", "0.009500", "known", "carrier"),
    ]
    database, ids = tenant.services.database, tenant.services.ids
    for transfer in ("CA_person", None, "CA_person", None, "CA_other"):  # they are told again
        again = partial(settle, now_ms=1, transfer=transfer)
        assert not await database.write(again, ids, call.id, dollars("0.001"))
    assert await charged(tenant, call.id) == 8_500 + 6_000 + 9_500
    made = await tenant.client.deployments.get(id=call.deployment_id or "")
    assert made.stats is not None
    assert micros(made.stats.spend.amount) == 8_500 + 6_000 + 9_500
    assert await awaited(tenant) == 0
    await check_ledgers(database)


@pytest.mark.requirement("COST-10")
async def test_a_carrier_that_charges_more_for_a_person_than_the_list_is_shown_and_the_wallet_pays_the_list(
    tenant: Tenant,
) -> None:
    carrier = ScriptedCarrier(talk_s=TALK_S, persons={phone(0): (leg(),)}, charges={"CA_person": dollars("0.95")})
    (call,) = await called(tenant, carrier, 1, DESK)
    await ask(tenant, carrier)
    (person,) = persons_of(await tenant.client.calls.get(call_uuid=call.id))
    assert (person.amount, person.status) == ("0.018000", "known")
    assert person.carrier_charged is not None
    assert person.carrier_charged.amount == "0.950000"
    assert await charged(tenant, call.id) == 18_000 + 18_000


@pytest.mark.requirement("COST-11")
async def test_a_person_beyond_what_was_agreed_is_capped_and_one_who_was_not_agreed_is_not_paid(tenant: Tenant) -> None:
    """Which cannot come of the destinations of an agent; a fault elsewhere must not pass what a person agreed to."""
    carrier = ScriptedCarrier(talk_s=TALK_S, persons={phone(0): (leg(ABROAD, None),)})
    (call,) = await called(tenant, carrier, 1, DESK)
    (person,) = persons_of(await tenant.client.calls.get(call_uuid=call.id))
    most = -(-(1 + 2 * 60) * 18_000 // 60)
    assert (micros(person.amount), person.status) == (most, "capped")
    assert await charged(tenant, call.id) == 18_000 + most


@pytest.mark.requirement("COST-10", "COST-04")
async def test_a_campaign_of_which_a_third_is_transferred_costs_what_the_imitation_billed_for_both_legs(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_thresholds, "SHORT_CALL_MS", 0)  # so many short calls are looked at by a person
    persons = {phone(at): (leg(sid=f"CA_person_{at}"),) for at in range(0, 30, 3)}
    carrier = ScriptedCarrier(talk_s=TALK_S, persons=persons)
    calls = await called(tenant, carrier, 30, DESK, max_concurrency=10, calls_per_second=100.0)
    bill: dict[str, int] = {f"CA{at + 1}": 2_000 + 100 * at for at in range(30)}
    bill |= {f"CA_person_{at}": 3_000 + 100 * at for at in range(0, 30, 3)}
    carrier.charges |= {sid: dollars(str(Decimal(price) / 1_000_000)) for sid, price in bill.items()}
    while await awaited(tenant):
        await ask(tenant, carrier)
    billed = sum(bill.values()) + 30 * 6_000
    shown = [await tenant.client.calls.get(call_uuid=call.id) for call in calls]
    assert sum(bool(persons_of(call)) for call in shown) == 10
    assert {status for call in shown for _, _, status, _ in items_of(call)} == {"known"}
    assert sum([await charged(tenant, call.id) for call in shown]) == billed
    made = await tenant.client.deployments.get(id=calls[0].deployment_id or "")
    assert made.stats is not None
    assert micros(made.stats.spend.amount) == billed
    stats = await tenant.client.calls.stats(deployment_id=made.id)
    assert stats.cost is not None
    assert micros(stats.cost.total.amount) == billed
    await check_ledgers(tenant.services.database)


@pytest.mark.requirement("COST-11")
async def test_a_plan_counts_the_person_for_all_the_time_of_each_call(tenant: Tenant) -> None:
    await take_prices(tenant)
    plain = await real_draft(tenant, people(10), name="plain", retry_policy=ONCE, max_call_duration_seconds=120)
    agent_id = await transferring_agent(tenant, DESK, ABROAD, countries=["DE"])
    given = {"retry_policy": ONCE, "max_call_duration_seconds": 120, "agent_id": agent_id}
    transfers = await real_draft(tenant, people(10), name="transfers", audience_id=plain.audience_id, **given)
    shown = [await tenant.client.deployments.preview(id=made.id) for made in (plain, transfers)]
    assert shown[0].cost.low == shown[1].cost.low
    assert ["transfer" in preview.cost.basis for preview in shown] == [False, True]
    assert ["whose telephones may ring too" in preview.summary for preview in shown] == [False, True]
    high = [micros(preview.cost.high.amount) for preview in shown]
    assert high[1] - high[0] == 10 * (120 + 2 * 60) * 120_000 // 60
    for preview, most in zip(shown, high, strict=True):
        assert f"for at most {rounded_up(most)}" in preview.summary
    await leave_in_wallet(tenant, high[1] // 10 - 1)  # of both, each call holds back all that it may cost
    problems = [(await tenant.client.deployments.preview(id=made.id)).problems for made in (plain, transfers)]
    assert problems[0] == []
    assert ["wallet" in one for one in problems[1]] == [True], problems


@pytest.mark.requirement("COST-10")
async def test_a_person_on_the_simulated_network_is_paid_in_play_money(tenant: Tenant) -> None:
    agent_id = await transferring_agent(tenant, DESK)
    rows = people(2, sim_outcome="answered", sim_transfer="answered")
    rows += people(1, first=2, sim_outcome="answered", sim_transfer="busy")
    async with working(tenant):
        made = await run(tenant, rows, agent_id=agent_id, retry_policy=ONCE)
    calls = [await tenant.client.calls.get(call_uuid=call.id) for call in await calls_of(tenant, made.id)]
    for call in calls:
        persons = persons_of(call)
        assert call.transfer is not None
        assert len(persons) == (call.transfer.status == "bridged")
        for one in persons:
            assert 4 <= one.quantity <= 20
            assert micros(one.amount) == -(-int(one.quantity) * 7_000 // 60)
            assert (one.status, one.priced_by, one.provider) == ("known", "agreed", None)
        assert call.cost is not None
        assert (
            await charged(tenant, call.id)
            == micros(call.cost.amount)
            == sum(micros(one.amount) for one in call.cost.breakdown)
        )
    assert sum(len(persons_of(call)) for call in calls) == 2
    await check_ledgers(tenant.services.database)


@pytest.mark.requirement("COST-11")
@pytest.mark.service(workers=True)
async def test_a_campaign_that_transfers_never_spends_more_than_its_budget(tenant: Tenant) -> None:
    agent_id = await transferring_agent(tenant, ABROAD, countries=["DE"])
    rows = people(80, sim_outcome="answered", sim_transfer="answered")
    paused = await run(tenant, rows, agent_id=agent_id, budget_cap=Spend(amount="0.20"))
    assert (paused.status, paused.status_reason) == ("paused", "budget_reached")
    found = await campaign_records(tenant.database, paused.id)
    assert 0 < found.deployment.spend_micros <= 200_000
    assert (found.deployment.reserved_micros, found.wallet.reserved_micros) == (0, 0)
    await tenant.client.deployments.update(id=paused.id, budget_cap=Spend(amount="9.00"))
    await tenant.client.deployments.resume(id=paused.id)
    ended = await tenant.ended(paused.id)
    assert ended.status == "completed"
    check_counters(await campaign_records(tenant.database, ended.id))
