"""Plans of campaigns that are paused, scheduled, finished, or real."""

from datetime import timedelta
from pathlib import Path

import pytest

from callwright.service.platform.clock.clock import DAY, moment
from tests.support import resources
from tests.support.campaigns import ended_by_workers, working
from tests.support.clock_set_by_test import Wall
from tests.support.deployments.plans import make_real, nobody_is_called, plan_of
from tests.support.resources import refusal, row
from tests.support.service import OWNED, Tenant, open_service


async def test_a_paused_campaign_is_resumed_by_a_plan_made_while_it_is_paused(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    made, client = campaign.deployment.id, tenant.client.deployments
    before = await plan_of(tenant, made)
    await client.start(id=made, plan_id=before)
    running = await plan_of(tenant, made)
    await client.pause(id=made)
    assert (await client.resume(id=made, plan_id=before)).status == "paused"  # it is the start that was done
    async with refusal(409, "plan_stale") as kept:
        await client.resume(id=made, plan_id=running)
    assert kept[0].details == {"changed": ["progress"]}
    assert kept[0].message == "the deployment's state has changed since the preview"
    paused = await plan_of(tenant, made)
    await tenant.client.agents.update(id=campaign.agent.id, system_prompt="Something else.")  # it keeps its agent
    resumed = await client.resume(id=made, plan_id=paused)
    assert (resumed.status, resumed.plan_id) == ("active", paused)
    await client.pause(id=made)
    assert (await client.resume(id=made, plan_id=paused)).status == "paused"
    for old in (before, running):
        async with refusal(409, "plan_stale"):
            await client.resume(id=made, plan_id=old)
    plan_id = await plan_of(tenant, made)
    await tenant.client.audiences.add_rows(id=campaign.audience.id, rows=[row(1)])
    async with refusal(409, "plan_stale") as kept:
        await client.resume(id=made, plan_id=plan_id)
    assert kept[0].details == {"changed": ["audience"]}
    assert (await client.resume(id=made)).plan_id is None


async def test_a_plan_does_not_change_what_a_state_allows(tenant: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment.id
    plan_id = await plan_of(tenant, made)
    async with refusal(409, "invalid_state_transition"):
        await tenant.client.deployments.resume(id=made, plan_id=plan_id)
    await tenant.client.deployments.cancel(id=made)
    async with refusal(409, "invalid_state_transition"):
        await tenant.client.deployments.start(id=made, plan_id=plan_id)


@pytest.mark.requirement("ERR-78")
async def test_where_telephones_ring_a_start_needs_a_plan(tenant: Tenant) -> None:
    made, client = (await resources.draft(tenant)).deployment.id, tenant.client.deployments
    await make_real(tenant, made)
    async with refusal(409, "plan_required"):
        await client.start(id=made)
    assert await nobody_is_called(tenant, made)
    seen = await client.preview(id=made)
    assert seen.summary.startswith("Call 1 person (+")
    assert (await client.start(id=made, plan_id=seen.plan_id)).status == "active"
    await client.pause(id=made)
    async with refusal(409, "plan_required"):
        await client.resume(id=made)
    assert (await client.get(id=made)).status == "paused"
    assert (await client.resume(id=made, plan_id=await plan_of(tenant, made))).status == "active"


async def test_where_telephones_ring_nothing_is_started_while_it_is_made(tenant: Tenant) -> None:
    owned = await tenant.client.phone_numbers.import_owned(number=OWNED[0])
    async with refusal(409, "plan_required", "auto_start") as kept:
        await resources.draft(tenant, auto_start=True, phone_number_ids=[owned.id])
    assert "make a draft, preview it, then start it" in kept[0].message
    assert (await tenant.client.deployments.list()).data == []
    made = await resources.draft(tenant, "Draft", phone_number_ids=[owned.id])
    assert (made.deployment.status, made.deployment.simulated) == ("draft", False)


async def test_a_deployment_never_changes_between_simulated_and_real_numbers_but_its_clone_may(tenant: Tenant) -> None:
    client = tenant.client
    owned = await client.phone_numbers.import_owned(number=OWNED[0])
    simulated = await resources.draft(tenant)
    assert simulated.deployment.simulated
    async with refusal(400, "invalid_field", "phone_number_ids") as kept:
        await client.deployments.update(id=simulated.deployment.id, phone_number_ids=[owned.id])
    assert "clone the deployment with these numbers" in kept[0].message
    async with refusal(400, "invalid_field", "phone_number_ids") as kept:
        await client.deployments.create(
            name="Mixed",
            agent_id=simulated.agent.id,
            audience_id=simulated.audience.id,
            phone_number_ids=[simulated.number.id, owned.id],
        )
    assert "simulated and sip" in kept[0].message or "sip and simulated" in kept[0].message
    real = await client.deployments.clone(id=simulated.deployment.id, name="Real", phone_number_ids=[owned.id])
    assert (real.simulated, real.status) == (False, "draft")
    async with refusal(409, "plan_required"):
        await client.deployments.start(id=real.id)


async def test_what_was_agreed_to_must_still_hold_when_the_moment_of_a_scheduled_start_comes(
    database_url: str, tmp_path: Path
) -> None:
    wall = Wall()
    async with open_service(database_url, tmp_path, workers=False, clock=wall.clock()) as tenant:
        client = tenant.client.deployments
        start_at = moment(tenant.services.clock.now_ms()) + timedelta(days=1)
        campaigns = [await resources.draft(tenant, name, start_at=start_at) for name in ("Same", "Other", "Unplanned")]
        same, other, unplanned = (campaign.deployment.id for campaign in campaigns)
        for made in (same, other):
            seen = await client.preview(id=made)
            assert f"not before {start_at:%Y-%m-%d %H:%M} UTC" in seen.summary
            assert (await client.start(id=made, plan_id=seen.plan_id)).status == "scheduled"
        await client.start(id=unplanned)
        for campaign in campaigns[1:]:
            await tenant.client.audiences.add_rows(id=campaign.audience.id, rows=[row(1)])
        wall.ahead_ms += DAY
        async with working(tenant):
            ended = [await tenant.ended(made) for made in (same, other, unplanned)]
        assert [found.status for found in ended] == ["completed", "paused", "completed"]
        assert (ended[1].status_reason, ended[1].stats.contacts) == ("plan_stale", 0)
        assert (await client.resume(id=other, plan_id=await plan_of(tenant, other))).status == "active"


async def test_what_really_rings_does_not_begin_by_itself_without_a_plan(database_url: str, tmp_path: Path) -> None:
    wall = Wall()
    async with open_service(database_url, tmp_path, workers=False, clock=wall.clock()) as tenant:
        start_at = moment(tenant.services.clock.now_ms()) + timedelta(days=1)
        made = (await resources.draft(tenant, start_at=start_at)).deployment.id
        await tenant.client.deployments.start(id=made)
        await make_real(tenant, made)
        wall.ahead_ms += DAY
        ended = await ended_by_workers(tenant, made)
        assert (ended.status, ended.status_reason, ended.stats.contacts) == ("paused", "plan_required", 0)


async def test_a_repeated_plain_start_of_a_scheduled_campaign_changes_nothing(tenant: Tenant) -> None:
    start_at = moment(tenant.services.clock.now_ms()) + timedelta(days=3)
    client = tenant.client.deployments
    made = (await resources.draft(tenant, start_at=start_at)).deployment.id
    unused = await plan_of(tenant, made)
    scheduled = await client.start(id=made)
    assert scheduled.status == "scheduled"
    assert await client.start(id=made) == scheduled
    async with refusal(409, "plan_stale"):  # it was about a start that waits
        await client.start(id=made, plan_id=unused)
    await client.pause(id=made)
    resumed = await client.resume(id=made)
    assert (resumed.status, await client.start(id=made)) == ("scheduled", resumed)
    assert await nobody_is_called(tenant, made, "scheduled")


async def test_where_telephones_ring_a_repeated_plain_start_of_a_scheduled_campaign_changes_nothing(
    tenant: Tenant,
) -> None:
    start_at = moment(tenant.services.clock.now_ms()) + timedelta(days=3)
    made = (await resources.draft(tenant, start_at=start_at)).deployment.id
    await make_real(tenant, made)
    scheduled = await tenant.client.deployments.start(id=made, plan_id=await plan_of(tenant, made))
    assert (await tenant.client.deployments.start(id=made), scheduled.status) == (scheduled, "scheduled")


async def test_a_scheduled_campaign_begins_at_once_by_a_plan_that_says_so(tenant: Tenant) -> None:
    start_at = moment(tenant.services.clock.now_ms()) + timedelta(days=3)
    client = tenant.client.deployments
    made = (await resources.draft(tenant, start_at=start_at)).deployment.id
    before = await client.preview(id=made)
    assert f", not before {start_at:%Y-%m-%d %H:%M} UTC, " in before.summary
    assert (await client.start(id=made, plan_id=before.plan_id)).status == "scheduled"
    seen = await client.preview(id=made)
    assert f", BEGINNING AT ONCE instead of at {start_at:%Y-%m-%d %H:%M} UTC, " in seen.summary
    assert "not before" not in seen.summary
    assert any("begins by itself at start_at" in said for said in seen.warnings)
    assert (await client.start(id=made, plan_id=before.plan_id)).status == "scheduled"
    assert (await client.start(id=made, plan_id=seen.plan_id)).status == "active"
