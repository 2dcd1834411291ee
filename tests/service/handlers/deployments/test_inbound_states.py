"""Who may move an inbound deployment where, what that emits, and that nobody ever drives one."""

import pytest
from sqlalchemy import select, update

from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.inbound import ANSWERING
from callwright.service.dialling import leases
from callwright.service.platform.clock.clock import DAY
from callwright.service.tables.schema import deployments, outbox, phone_numbers
from tests.support import resources
from tests.support.campaigns import leave_in_wallet
from tests.support.deployments.plans import make_real
from tests.support.deployments.states import ACTIONS, act, event_types
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import inbound, inbound_number, refusal
from tests.support.service import Tenant
from tests.support.sweeps import sweep_after


async def _in_state(tenant: Tenant, status: str) -> Deployment:
    made = await inbound(tenant, tenant.services.ids.new("tst"))
    if status == "paused":
        await tenant.client.deployments.pause(id=made.id)
    if status == "cancelled":
        await tenant.client.deployments.cancel(id=made.id)
    return made


@pytest.mark.requirement("INB-02")
@pytest.mark.parametrize(
    ("status", "ends"),
    [
        ("active", {"start": "active", "pause": "paused", "resume": "active", "cancel": "cancelled"}),
        ("paused", {"start": None, "pause": "paused", "resume": "active", "cancel": "cancelled"}),
        ("cancelled", {**dict.fromkeys(ACTIONS), "cancel": "cancelled"}),
    ],
)
async def test_every_action_in_every_state_of_an_inbound_deployment(
    tenant: Tenant, status: str, ends: dict[str, str | None]
) -> None:
    for action in ACTIONS:
        made, end = await _in_state(tenant, status), ends[action]
        if end is not None:
            assert await act(tenant, action, made.id) == end, (status, action)
            continue
        async with refusal(409, "invalid_state_transition") as kept:
            await act(tenant, action, made.id)
        assert kept[0].details["current_status"] == status
    made = await _in_state(tenant, status)
    async with refusal(409, "invalid_state_transition"):
        await tenant.client.deployments.delete(id=made.id)


async def test_events_tell_that_it_was_paused_resumed_and_ended(tenant: Tenant) -> None:
    made = await inbound(tenant)
    for action in ("pause", "pause", "resume", "resume", "cancel", "cancel"):
        await act(tenant, action, made.id)
    assert await event_types(tenant) == ["deployment.paused", "deployment.resumed", "deployment.completed"]
    last = select(outbox.c.data).where(outbox.c.type == "deployment.completed")
    data = await tenant.database.read(lambda connection: connection.execute(last).scalar_one())
    assert '"status":"cancelled"' in data.replace(" ", "")
    ended = await tenant.client.deployments.get(id=made.id)
    assert (ended.status, ended.status_reason) == ("cancelled", "manual")
    assert ended.completed_at is not None


async def test_an_inbound_deployment_has_no_plan_and_nothing_to_preview(tenant: Tenant, http: AsyncClient) -> None:
    made = await inbound(tenant)
    answer = await http.post(f"/v1/deployments/{made.id}/preview")
    assert "calls nobody" in refused(answer, 400, "invalid_field", "id")["message"]
    await tenant.client.deployments.pause(id=made.id)
    async with refusal(400, "invalid_field", "plan_id"):
        await tenant.client.deployments.resume(id=made.id, plan_id="pln_1")
    await make_real(tenant, made.id)
    assert (await tenant.client.deployments.resume(id=made.id)).status == "active"  # nobody is called, so no plan


async def test_the_agent_changes_only_while_it_is_paused_and_nothing_once_it_ended(tenant: Tenant) -> None:
    made, other = await inbound(tenant), await resources.agent(tenant, "Other")
    change = tenant.client.deployments.update
    async with refusal(409, "invalid_state_transition", "agent_id") as kept:
        await change(id=made.id, agent_id=other.id)
    assert kept[0].details["allowed"] == sorted(["inbound", "max_concurrency", "metadata", "name", *ANSWERING])
    await tenant.client.deployments.pause(id=made.id)
    assert (await change(id=made.id, agent_id=other.id)).agent_id == other.id
    await tenant.client.agents.delete(id=made.agent_id)
    await tenant.client.deployments.cancel(id=made.id)
    async with refusal(409, "invalid_state_transition", "name"):
        await change(id=made.id, name="New")


async def test_it_is_resumed_only_with_a_number_that_is_active(tenant: Tenant) -> None:
    made = await inbound(tenant)
    await tenant.client.deployments.pause(id=made.id)
    suspend = update(phone_numbers).where(phone_numbers.c.id == inbound_number(made)).values(status="suspended")
    await tenant.database.write(lambda connection: connection.execute(suspend).rowcount)
    async with refusal(422, "number_not_capable"):
        await tenant.client.deployments.resume(id=made.id)
    assert (await tenant.client.deployments.cancel(id=made.id)).status == "cancelled"
    assert (await tenant.client.phone_numbers.get(id=inbound_number(made))).inbound_deployment_id is None


@pytest.mark.parametrize("auto_renew", [False, True])
async def test_it_fails_when_its_number_is_lost_and_the_number_is_free(tenant: Tenant, auto_renew: bool) -> None:
    made = await inbound(tenant)
    await tenant.client.phone_numbers.update(id=inbound_number(made), auto_renew=auto_renew)
    await leave_in_wallet(tenant, 1)
    await sweep_after(tenant, 29)
    assert (await tenant.client.deployments.get(id=made.id)).status == "active"
    for days in (31, 38):
        await sweep_after(tenant, days)
    number = await tenant.client.phone_numbers.get(id=inbound_number(made))
    assert (number.status, number.inbound_deployment_id) == ("released", None)
    failed = await tenant.client.deployments.get(id=made.id)
    assert (failed.status, failed.status_reason, failed.clock) == ("failed", "no_phone_number", None)
    assert sorted(await event_types(tenant)) == ["deployment.failed", "phone_number.status_changed"]


async def test_a_number_that_is_paid_for_again_stays_bound(tenant: Tenant) -> None:
    made = await inbound(tenant)
    await sweep_after(tenant, 31)
    assert (await tenant.client.phone_numbers.get(id=inbound_number(made))).inbound_deployment_id == made.id
    assert (await tenant.client.deployments.get(id=made.id)).status == "active"


async def test_the_dialler_never_takes_an_inbound_deployment(tenant: Tenant) -> None:
    made, services = await inbound(tenant), tenant.services
    campaign = (await resources.draft(tenant)).deployment
    await tenant.client.deployments.start(id=campaign.id)
    now_ms = services.clock.now_ms()
    assert await services.database.read(leases.candidates, "wrk_1", now_ms + DAY, 10) == [campaign.id]
    taken = await services.database.write(leases.take, [made.id, campaign.id], "wrk_1", now_ms, now_ms + 1)
    assert taken == [campaign.id]


@pytest.mark.service(workers=True)
async def test_beside_a_campaign_that_runs_to_its_end_an_inbound_deployment_is_left_alone(tenant: Tenant) -> None:
    made = await inbound(tenant)
    campaign = (await resources.draft(tenant)).deployment
    await tenant.client.deployments.start(id=campaign.id)
    assert (await tenant.ended(campaign.id)).status == "completed"
    assert await tenant.client.deployments.get(id=made.id) == made
    lease = select(deployments.c.lease_owner).where(deployments.c.id == made.id)
    owner = await tenant.database.read(lambda connection: connection.execute(lease).scalar_one())
    assert owner is None
