"""A driver that dies or loses its lease at the worst moments: between the claim, the dialling and the record."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import pytest
from sqlalchemy import update

from callwright.contract.deployments.dialling import RetryPolicy
from callwright.contract.do_not_call import NewEntry
from callwright.service.dialling.leases import LeaseLost
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import deployments
from callwright.service.telephony.engine import CallRequest, EngineParts
from callwright.service.telephony.simulated.engine import SimulatedEngine
from tests.support.campaign_invariants import campaign_records, check_dialled_once, check_everything
from tests.support.campaigns import (
    ONCE,
    Forgetful,
    Interrupted,
    claim_and_die,
    driver_of,
    ended_by_workers,
    expire_leases,
    lease,
    people,
    phone,
    started,
)
from tests.support.service import Tenant, open_service


class Thief(SimulatedEngine):
    """A network during whose first calls the lease goes to another driver."""

    def __init__(self, parts: EngineParts, deployment_id: str) -> None:
        super().__init__(parts)
        self._theft = update(deployments).where(deployments.c.id == deployment_id).values(lease_owner="wrk_thief")
        self._thieved_from = parts.database

    async def dial(self, dialled: Sequence[tuple[CallRequest, int]]) -> None:
        await super().dial(dialled)
        await self._thieved_from.write(lambda connection: connection.execute(self._theft).rowcount)


@pytest.mark.requirement("STATE-27", "STATE-28")
async def test_calls_that_were_claimed_and_not_dialled_are_dialled_once_at_their_moment(tenant: Tenant) -> None:
    made = await started(tenant, people(30))
    await claim_and_die(tenant, made.id)
    left = await campaign_records(tenant.database, made.id)
    assert (len(left.calls), len(left.dials), left.deployment.in_flight) == (10, 0, 10)
    assert left.wallet.reserved_micros == left.deployment.reserved_micros == 10 * 24_000
    await expire_leases(tenant)
    await ended_by_workers(tenant, made.id)
    found = await campaign_records(tenant.database, made.id)
    assert {call.id for call in left.calls} <= {call.id for call in found.calls}
    check_everything(found, RetryPolicy())


@pytest.mark.parametrize(
    "time_scale",
    [
        pytest.param(scale, marks=pytest.mark.service(settings={"sim_time_scale": scale}))
        for scale in (math.inf, 10_000.0)
    ],
)
async def test_a_call_that_was_not_dialled_is_not_made_once_its_number_is_on_the_do_not_call_list(
    tenant: Tenant, time_scale: float
) -> None:
    made = await started(tenant, people(2), retry_policy=ONCE)
    await claim_and_die(tenant, made.id)
    await tenant.client.do_not_call.add(entries=[NewEntry(number=phone(0))], simulated=True)
    await expire_leases(tenant)
    await ended_by_workers(tenant, made.id)
    found = await campaign_records(tenant.database, made.id)
    dialled = {dial.call_id for dial in found.dials}
    assert {call.to_number for call in found.calls if call.id in dialled} == {phone(1)}
    (unmade,) = [call for call in found.calls if call.id not in dialled]
    assert (unmade.outcome, unmade.hangup_cause, unmade.cost_micros) == ("failed", "platform_error", 0)
    assert (found.wallet.reserved_micros, found.deployment.in_flight) == (0, 0)
    told = [row.type for row, data in found.events if data.get("call_id") == unmade.id]
    assert told == ["call.completed"]


@pytest.mark.parametrize("action", ["pause", "cancel"])
async def test_calls_that_were_not_dialled_are_not_made_once_their_campaign_is_stopped(
    tenant: Tenant, action: str
) -> None:
    made = await started(tenant, people(2), retry_policy=ONCE)
    await claim_and_die(tenant, made.id)
    await getattr(tenant.client.deployments, action)(id=made.id)
    await expire_leases(tenant)
    await lease(tenant, made.id, "wrk_next")
    await driver_of(tenant, "wrk_next").drive(made.id)
    found = await campaign_records(tenant.database, made.id)
    assert (found.dials, found.deployment.in_flight, found.wallet.reserved_micros) == ([], 0, 0)
    assert {call.outcome for call in found.calls} == {"failed"}
    assert {contact.status for contact in found.contacts} == {"pending" if action == "pause" else "cancelled"}


@pytest.mark.requirement("STATE-27")
async def test_people_whose_calls_were_not_dialled_are_called_after_a_resume_with_all_their_attempts(
    tenant: Tenant,
) -> None:
    made = await started(tenant, people(2, sim_outcome="answered", sim_intent="yes"), retry_policy=ONCE)
    await claim_and_die(tenant, made.id)
    await tenant.client.deployments.pause(id=made.id)
    await expire_leases(tenant)
    await lease(tenant, made.id, "wrk_next")
    await driver_of(tenant, "wrk_next").drive(made.id)
    waiting = (await tenant.client.deployments.get(id=made.id)).stats
    assert (waiting.pending, waiting.last_outcomes) == (2, {})
    await tenant.client.deployments.resume(id=made.id)
    await expire_leases(tenant)
    ended = await ended_by_workers(tenant, made.id)
    found = await campaign_records(tenant.database, made.id)
    assert sorted(call.to_number for call in found.calls if call.outcome == "answered") == [phone(0), phone(1)]
    assert {contact.status for contact in found.contacts} == {"completed"}
    assert ended.status_reason == "audience_exhausted"


@pytest.mark.requirement("STATE-27")
async def test_calls_that_were_dialled_and_not_recorded_are_not_dialled_again(tenant: Tenant) -> None:
    made = await started(tenant, people(30))
    for life in range(3):
        await expire_leases(tenant)
        await lease(tenant, made.id, f"wrk_{life}")
        if life:  # the calls that the life before left open are taken over first, and then the next round is left
            found = await campaign_records(tenant.database, made.id)
            assert found.deployment.in_flight == 10
        with pytest.raises(Interrupted):
            await driver_of(tenant, f"wrk_{life}", engine=Forgetful).drive(made.id)
    await expire_leases(tenant)
    await ended_by_workers(tenant, made.id)
    check_everything(await campaign_records(tenant.database, made.id), RetryPolicy())


@pytest.mark.requirement("STATE-27")
async def test_a_driver_that_lost_its_lease_records_nothing(tenant: Tenant) -> None:
    made = await started(tenant, people(30))
    await lease(tenant, made.id, "wrk_slow")
    with pytest.raises(LeaseLost):
        await driver_of(tenant, "wrk_slow", engine=partial(Thief, deployment_id=made.id)).drive(made.id)
    left = await campaign_records(tenant.database, made.id)
    assert (len(left.calls), left.deployment.in_flight, left.deployment.spend_micros) == (10, 10, 0)
    await driver_of(tenant, "wrk_thief").drive(made.id)
    found = await campaign_records(tenant.database, made.id)
    assert found.deployment.status == "completed"
    check_everything(found, RetryPolicy())


async def test_a_lease_that_runs_out_again_and_again_does_not_make_a_process_drive_twice(
    database_url: str, tmp_path: Path
) -> None:
    """As after a machine slept: the lease is over, and the process that holds it is still at work."""
    settings = ServiceSettings(data=tmp_path, database_url=database_url)
    async with open_service(database_url, tmp_path, settings=replace(settings, deployment_lease_ms=1)) as tenant:
        made = await started(tenant, people(120), max_concurrency=2)
        with anyio.fail_after(60):
            while True:
                tenant.services.wake()  # the workers look again for what has no driver
                if (await tenant.client.deployments.get(id=made.id)).status == "completed":
                    break
                await anyio.sleep(0.002)
        check_everything(await campaign_records(tenant.database, made.id), RetryPolicy(), lines=2)


class FrozenEngine(SimulatedEngine):
    """A network that a driver reaches only after another one has driven the deployment to its end."""

    def __init__(self, parts: EngineParts, tenant: Tenant, deployment_id: str) -> None:
        super().__init__(parts)
        self._open_tenant, self._deployment_id = tenant, deployment_id

    async def dial(self, dialled: Sequence[tuple[CallRequest, int]]) -> None:
        await expire_leases(self._open_tenant)
        await lease(self._open_tenant, self._deployment_id, "wrk_other")
        await driver_of(self._open_tenant, "wrk_other").drive(self._deployment_id)
        await super().dial(dialled)


async def test_a_driver_that_froze_between_claiming_and_dialling_dials_nothing_that_another_one_has_dialled(
    tenant: Tenant,
) -> None:
    made = await started(tenant, people(5))
    await lease(tenant, made.id, "wrk_frozen")
    with pytest.raises(LeaseLost):
        await driver_of(tenant, "wrk_frozen", engine=partial(FrozenEngine, tenant=tenant, deployment_id=made.id)).drive(
            made.id
        )
    found = await campaign_records(tenant.database, made.id)
    assert found.deployment.status == "completed"
    check_dialled_once(found)
