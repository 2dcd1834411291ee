"""While a file is being imported into its audience no deployment starts, goes on, or begins by itself."""

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from callwright.contract.deployments.deployments import Deployment
from callwright.service.platform.clock.clock import HOUR, moment
from callwright.service.tables.schema import imports as import_table
from callwright.service.workers import imports
from tests.support.campaigns import ONCE, audience_of, draft, ended_by_workers, people, started
from tests.support.clock_set_by_test import Wall
from tests.support.deployments.plans import FixedClock
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service

CSV = "phone_number,first_name\n+12125550161,Ada\n+12125550162,Bob\n"


async def importing(tenant: Tenant, campaign: Deployment) -> str:
    """An import into the campaign's audience that nobody works on yet."""
    return (await tenant.client.audiences.import_csv(id=audience_of(campaign), csv=CSV)).id


async def work(tenant: Tenant, *, after_ms: int = 0) -> None:
    """A worker takes the oldest import, so much later."""
    later = replace(tenant.services, clock=FixedClock(tenant.services.clock.now_ms() + after_ms))
    assert await imports.work_on_one(later, "wrk_test")


@pytest.mark.requirement("ERR-91")
@pytest.mark.parametrize("planned", [False, True])
async def test_a_start_waits_for_the_imports_of_its_audience(planned: bool, tenant: Tenant) -> None:
    campaign = await draft(tenant, people(3, sim_outcome="busy"), retry_policy=ONCE)
    waiting = await importing(tenant, campaign)
    preview = await tenant.client.deployments.preview(id=campaign.id)
    assert any(waiting in problem for problem in preview.problems)
    async with refusal(409, "audience_importing") as kept:
        await tenant.client.deployments.start(id=campaign.id, plan_id=preview.plan_id if planned else None)
    assert kept[0].details == {"imports": [waiting]}
    assert waiting in kept[0].message
    await work(tenant)
    started = await tenant.client.deployments.start(id=campaign.id)
    assert (started.status, started.stats.contacts) == ("active", 5)


@pytest.mark.requirement("ERR-91")
async def test_a_resume_waits_for_the_imports_of_its_audience(tenant: Tenant) -> None:
    campaign = await started(tenant, people(3, sim_outcome="busy"), retry_policy=ONCE)
    await tenant.client.deployments.pause(id=campaign.id)
    await importing(tenant, campaign)
    async with refusal(409, "audience_importing"):
        await tenant.client.deployments.resume(id=campaign.id)
    await work(tenant)
    assert (await tenant.client.deployments.resume(id=campaign.id)).stats.contacts == 5


@pytest.mark.requirement("ERR-91")
async def test_a_scheduled_deployment_whose_moment_comes_during_an_import_pauses_and_says_why(
    database_url: str, tmp_path: Path
) -> None:
    wall = Wall()
    async with open_service(database_url, tmp_path, workers=False, clock=wall.clock()) as tenant:
        services = tenant.services
        now_ms = services.clock.now_ms()
        campaign = await started(tenant, people(3), start_at=moment(now_ms + HOUR), retry_policy=ONCE)
        await importing(tenant, campaign)
        held = update(import_table).values(status="importing", lease_owner="wrk_other", lease_until=now_ms + 2 * HOUR)
        await services.database.write(lambda connection: connection.execute(held).rowcount)
        wall.ahead_ms += HOUR
        paused = await ended_by_workers(tenant, campaign.id)
        assert (paused.status, paused.status_reason) == ("paused", "audience_importing")
        assert (await tenant.client.calls.list()).pagination.total == 0


@pytest.mark.requirement("ERR-91")
async def test_an_import_that_never_ends_expires_and_starts_go_on(tenant: Tenant) -> None:
    campaign = await draft(tenant, people(3, sim_outcome="busy"), retry_policy=ONCE)
    waiting = await importing(tenant, campaign)
    await work(tenant, after_ms=6 * HOUR)
    ended = await tenant.client.audiences.get_import(id=audience_of(campaign), import_id=waiting)
    assert (ended.status, ended.added) == ("failed", 0)
    assert "6 hours" in (ended.status_reason or "")
    assert (await tenant.client.deployments.start(id=campaign.id)).stats.contacts == 3


@pytest.mark.requirement("ERR-91")
async def test_a_scheduled_deployment_gets_no_audience_into_which_a_file_is_being_imported(tenant: Tenant) -> None:
    campaign = await draft(tenant, people(3), start_at=moment(tenant.services.clock.now_ms() + HOUR))
    other = await tenant.client.audiences.create(name="Others", rows=people(5, first=50))
    await tenant.client.deployments.start(id=campaign.id)
    waiting = (await tenant.client.audiences.import_csv(id=other.id, csv=CSV)).id
    async with refusal(409, "audience_importing") as kept:
        await tenant.client.deployments.update(id=campaign.id, audience_id=other.id)
    assert kept[0].details == {"imports": [waiting]}
    assert (await tenant.client.deployments.get(id=campaign.id)).audience_id == campaign.audience_id
    await work(tenant)
    changed = await tenant.client.deployments.update(id=campaign.id, audience_id=other.id)
    assert changed.audience_id == other.id
