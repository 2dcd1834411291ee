"""Transfers on lines: what the host is told is kept with the leg, and reaches the call and its event once."""

from dataclasses import dataclass, field, replace

import anyio
import pytest

from callwright.contract.calls.calls import Call
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.rules.prices.transfer_prices import TransferLeg
from callwright.service.telephony.engine import CallResult
from callwright.service.telephony.legs.carrier import HangUpAsked, LegRequest, ToldStage
from callwright.service.telephony.transfers import CallTransfer
from tests.service.dialling.costs.amounts import charged, micros
from tests.support.campaigns import ONCE, call_in, calls_of, expire_leases, people, phone, started
from tests.support.ledger_check import check_ledgers
from tests.support.priced_calls import transferring_agent
from tests.support.scripted_carrier import ScriptedCarrier, driven_on_lines, lines_of
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=False)
DESK = "+14155550177"
RINGING = CallTransfer(kind="warm", to="+14155550177", name="desk", started_s=1.0, at_s=1.0)
BRIDGED = replace(RINGING, status="bridged", at_s=4.0)


@dataclass
class TransferringCarrier(ScriptedCarrier):
    """Its calls are taken over by a person, and go on until `over` is set."""

    legs: tuple[TransferLeg, ...] = ()
    over: anyio.Event = field(default_factory=anyio.Event)
    told: anyio.Event = field(default_factory=anyio.Event)

    async def ended(
        self, leg: LegRequest, provider_call_id: str | None, told: ToldStage, hang_up: HangUpAsked
    ) -> CallResult:
        await told("answered", provider_call_id)
        known = CallResult(
            call_id=leg.call.call_id,
            outcome="transferred",
            hangup_cause="transfer_completed",
            ended_by="contact",
            answered_by="human",
            transfer=BRIDGED,
            transfer_legs=self.legs,
        )
        await leg.transferred(RINGING)
        await leg.keep(known)
        await leg.transferred(BRIDGED)
        self.told.set()
        await self.over.wait()
        return known


async def bridged_events(tenant: Tenant) -> list[str | None]:
    return [event.subject_id async for event in tenant.client.events.list(type="call.transferred")]


@pytest.mark.requirement("TRANSFER-03", "TRANSFER-04")
async def test_a_person_who_takes_over_on_a_line_is_told_while_the_call_goes_on(tenant: Tenant) -> None:
    carrier = TransferringCarrier()
    made = await started(tenant, people(1), retry_policy=RetryPolicy(max_attempts=3))
    seen: list[Call] = []
    async with lines_of(tenant, carrier), anyio.create_task_group() as tasks:
        tasks.start_soon(driven_on_lines, tenant, made.id)
        with anyio.fail_after(30):
            while True:
                if await bridged_events(tenant):
                    break
                await anyio.sleep(0.05)
        seen += await calls_of(tenant, made.id)
        carrier.over.set()
    (under_way,) = seen
    (call,) = await calls_of(tenant, made.id)
    assert under_way.status == "in_progress"
    assert under_way.transfer is not None
    assert (under_way.transfer.status, under_way.transfer.to) == ("bridged", "+14155550177")
    assert (call.outcome, call.hangup_cause, call.transfer) == ("transferred", "transfer_completed", under_way.transfer)
    assert await bridged_events(tenant) == [call.id]
    assert carrier.placed == [phone(0)]


@pytest.mark.requirement("TRANSFER-03")
async def test_a_call_that_was_taken_over_stays_so_when_its_host_is_gone(tenant: Tenant) -> None:
    carrier, other = TransferringCarrier(), ScriptedCarrier()
    made = await started(tenant, people(1), retry_policy=RetryPolicy(max_attempts=3))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(driven_on_lines, tenant, made.id)
        async with lines_of(tenant, carrier, name="hst_gone"):
            with anyio.fail_after(30):
                await carrier.told.wait()
        await expire_leases(tenant)
        async with lines_of(tenant, other, name="hst_other"):
            await call_in(tenant, made.id, status="completed")
    (call,) = await calls_of(tenant, made.id)
    assert (call.outcome, call.transfer.status if call.transfer else None) == ("transferred", "bridged")
    assert await bridged_events(tenant) == [call.id]
    assert other.placed == []


@pytest.mark.requirement("COST-10")
async def test_what_was_known_of_a_person_when_the_host_is_gone_is_charged_once(tenant: Tenant) -> None:
    carrier, other = TransferringCarrier(legs=(TransferLeg(DESK, 2.0, 17.0),)), ScriptedCarrier()
    agent_id = await transferring_agent(tenant, DESK)
    made = await started(tenant, people(1), agent_id=agent_id, retry_policy=ONCE)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(driven_on_lines, tenant, made.id)
        async with lines_of(tenant, carrier, name="hst_gone"):
            with anyio.fail_after(30):
                await carrier.told.wait()
        await expire_leases(tenant)
        async with lines_of(tenant, other, name="hst_other"):
            await call_in(tenant, made.id, status="completed")
    (call,) = await calls_of(tenant, made.id)
    call = await tenant.client.calls.get(call_uuid=call.id)
    assert call.cost is not None
    (person,) = [one for one in call.cost.breakdown if one.item == "transfer"]
    assert (person.quantity, person.status) == (15, "known")
    assert micros(person.amount) == 15 * 7_000 // 60
    assert (
        await charged(tenant, call.id)
        == micros(call.cost.amount)
        == sum(micros(one.amount) for one in call.cost.breakdown)
    )
    await check_ledgers(tenant.services.database)
