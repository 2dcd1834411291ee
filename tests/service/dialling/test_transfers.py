"""A transfer is stored and told when it happens, once, by whichever driver the call has by then."""

from collections.abc import Sequence
from dataclasses import dataclass

import anyio
import pytest

from callwright.contract.calls.calls import Call
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.dialling.rounds.driver_writes import DriverWrites
from callwright.service.dialling.rounds.runner import Runner
from callwright.service.platform.clock.clock import milliseconds
from callwright.service.telephony.engine import CallProgress, CallRequest, CallResult, EarlyEnd, EngineParts, Report
from callwright.service.telephony.registry import ENGINES
from callwright.service.telephony.transfers import CallTransfer
from tests.support.campaign_invariants import (
    campaign_records,
    check_counters,
    check_dialled_once,
    check_policy,
    check_records,
)
from tests.support.campaigns import call_in, expire_leases, lease, only_call, people, run, started, working
from tests.support.priced_calls import transferring_agent
from tests.support.service import Tenant

DESK = "+14155550177"
BRIDGED = CallTransfer(kind="cold", to="+14155550177", name="front desk", status="bridged", started_s=20.0, at_s=26.0)
FAILED = CallTransfer(kind="warm", to="+14155550177", status="failed", cause="no_answer", started_s=20.0, at_s=50.0)
RINGING = CallTransfer(kind="cold", to="+14155550177", name="front desk", started_s=20.0, at_s=20.0)


@dataclass
class Transferring:
    """Calls that a person takes over. They end once `over` is set; each call tells all that it knows again."""

    parts: EngineParts
    over: anyio.Event
    transfers: Sequence[CallTransfer]

    async def run(self, request: CallRequest, report: Report, *, dial_ms: int) -> CallResult:
        await report(CallProgress(request.call_id, "initiated", dial_ms))
        await report(CallProgress(request.call_id, "answered", dial_ms + 2_000))
        for transfer in self.transfers:
            at_ms = dial_ms + 2_000 + round(transfer.at_s * 1_000)
            await report(CallProgress(request.call_id, "transfer", at_ms, transfer))
        await self.over.wait()
        last = self.transfers[-1]
        return CallResult(
            call_id=request.call_id,
            outcome="transferred" if last.is_bridged else "answered",
            hangup_cause="transfer_completed" if last.is_bridged else "contact_hangup",
            ended_by="contact",
            answered_by="human",
            answered_s=2.0,
            ended_s=90.0,
            transfer=last,
        )

    async def hang_up(self, call_id: str, end: EarlyEnd | None = None) -> None:
        """They end when they are told to."""


async def drive(tenant: Tenant, deployment_id: str, owner: str, over: anyio.Event, *transfers: CallTransfer) -> None:
    services = tenant.services
    writes = DriverWrites(
        database=services.database, clock=services.clock, ids=services.ids, owner=owner, lease_ms=60_000
    )

    def engine(parts: EngineParts) -> Transferring:
        return Transferring(parts, over, transfers)

    await Runner(writes, time_scale=2_000.0, engines={**ENGINES, "simulated": engine}).drive(deployment_id)


async def transfer_under_way(tenant: Tenant, deployment_id: str, status: str) -> Call:
    with anyio.fail_after(20):
        while True:
            call = await only_call(tenant, deployment_id)
            if call is not None and call.transfer is not None and call.transfer.status == status:
                return call
            await anyio.sleep(0.01)


@pytest.mark.requirement("TRANSFER-03", "TRANSFER-04")
async def test_a_transfer_is_told_when_it_is_bridged_and_once_although_the_driver_dies(tenant: Tenant) -> None:
    made = await started(tenant, people(1), retry_policy=RetryPolicy(max_attempts=3))
    await lease(tenant, made.id, "wrk_first")
    over = anyio.Event()
    seen: list[Call] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(drive, tenant, made.id, "wrk_first", over, RINGING, BRIDGED)
        seen.append(await transfer_under_way(tenant, made.id, "bridged"))
        tasks.cancel_scope.cancel()  # the first driver is gone, in the middle of the call
    (under_way,) = seen
    before = await campaign_records(tenant.database, made.id)
    assert under_way.status == "in_progress"
    assert [event.type for event, _ in before.events if event.type == "call.transferred"] == ["call.transferred"]
    await expire_leases(tenant)
    await lease(tenant, made.id, "wrk_second")
    over.set()
    with anyio.fail_after(20):
        await drive(tenant, made.id, "wrk_second", over, RINGING, BRIDGED)
    found = await campaign_records(tenant.database, made.id)
    check_records(found)
    call = await call_in(tenant, made.id, status="completed")
    transfer = call.transfer
    assert transfer is not None
    assert call.answered_at is not None
    assert (transfer.type, transfer.to, transfer.name) == ("cold", "+14155550177", "front desk")
    assert (transfer.status, transfer.cause) == ("bridged", None)
    assert transfer.started_at is not None
    assert transfer.bridged_at is not None
    assert (transfer.bridged_at - transfer.started_at).total_seconds() == 6
    assert (transfer.started_at - call.answered_at).total_seconds() == 20
    (told,) = [(event, data) for event, data in found.events if event.type == "call.transferred"]
    assert told[0].created_at == milliseconds(call.answered_at) // 1_000 * 1_000 + 26_000 + told[0].created_at % 1_000
    (completed,) = [data for event, data in found.events if event.type == "call.completed"]
    assert completed["transfer"] == told[1]["transfer"] == transfer.model_dump(mode="json")
    assert (call.outcome, call.hangup_cause) == ("transferred", "transfer_completed")
    ended = await tenant.client.deployments.get(id=made.id)
    assert (ended.stats.completed, ended.stats.attempts) == (1, 1)


@pytest.mark.requirement("TRANSFER-01")
async def test_a_transfer_that_fails_is_seen_while_the_call_goes_on_and_is_no_event(tenant: Tenant) -> None:
    made = await started(tenant, people(1))
    await lease(tenant, made.id, "wrk_first")
    over = anyio.Event()
    seen: list[Call] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(drive, tenant, made.id, "wrk_first", over, FAILED)
        seen.append(await transfer_under_way(tenant, made.id, "failed"))
        over.set()
    (under_way,) = seen
    assert under_way.transfer is not None
    assert (under_way.status, under_way.transfer.cause) == ("in_progress", "no_answer")
    assert under_way.transfer.bridged_at is None
    found = await campaign_records(tenant.database, made.id)
    check_records(found)
    call = await call_in(tenant, made.id, status="completed")
    assert (call.outcome, call.transfer) == ("answered", under_way.transfer)
    (completed,) = [data for event, data in found.events if event.type == "call.completed"]
    assert completed["transfer"]["cause"] == "no_answer"


@pytest.mark.requirement("TRANSFER-03")
@pytest.mark.service(workers=True, settings={"sim_time_scale": 400.0})
async def test_a_transfer_on_the_simulated_network_is_told_at_its_moment(tenant: Tenant) -> None:
    agent_id = await transferring_agent(tenant, DESK)
    made = await started(tenant, people(2, sim_outcome="answered", sim_transfer="answered"), agent_id=agent_id)
    await tenant.ended(made.id)
    found = await campaign_records(tenant.database, made.id)
    check_policy(found, RetryPolicy())
    check_counters(found)
    check_dialled_once(found)
    moments = {data["call_id"]: event.created_at for event, data in found.events if event.type == "call.transferred"}
    assert moments == {call.id: call.transferred_at for call in found.calls}
    assert all(call.answered_at < call.transferred_at < call.ended_at for call in found.calls)


@pytest.mark.requirement("TRANSFER-01", "TRANSFER-02")
async def test_a_campaign_shows_of_each_call_why_nobody_took_over(tenant: Tenant) -> None:
    answers = ("answered", "busy", "no_answer", "rejected", "unreachable", "hung_up")
    rows = [
        row
        for index, answer in enumerate(answers)
        for row in people(1, first=index, sim_outcome="answered", sim_transfer=answer)
    ]
    async with working(tenant):
        made = await run(tenant, rows, agent_id=await transferring_agent(tenant, DESK))
    calls = [call async for call in tenant.client.calls.list(deployment_id=made.id)]
    causes = {call.transfer.cause for call in calls if call.transfer is not None}
    assert causes == {None, *answers[1:]}
    assert sorted(call.outcome or "" for call in calls) == ["answered"] * 5 + ["transferred"]
