"""What a preview tells: who is left, by when, and the sentence a person says yes to."""

from datetime import timedelta
from typing import Any

import pytest

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.dialling import CallingHours, Compliance, Window
from callwright.service.platform.clock.clock import moment
from tests.support import resources
from tests.support.campaigns import ONCE, draft, people, progressed, settled
from tests.support.resources import Campaign, row
from tests.support.service import Tenant

HOURS = CallingHours(windows=[Window(days=["mon"], start="09:00", end="17:00")])


@pytest.mark.service(workers=True)
async def test_a_preview_of_a_paused_campaign_counts_who_is_left(tenant: Tenant) -> None:
    rules: dict[str, Any] = {"max_concurrency": 1, "budget_cap": Spend(amount="0.5"), "retry_policy": ONCE}
    made = await draft(tenant, people(20, sim_outcome="answered"), **rules)
    before = await tenant.client.deployments.preview(id=made.id)
    assert (before.eligible, before.cost.high.amount) == (20, "0.512000")
    await tenant.client.deployments.start(id=made.id)
    await progressed(tenant, made.id, attempts=5)
    await tenant.client.deployments.pause(id=made.id)
    paused = await settled(tenant, made.id)
    left = paused.stats.pending + paused.stats.retry_waiting
    assert 0 < left < 20
    seen = await tenant.client.deployments.preview(id=made.id)
    assert seen.eligible == left
    beyond = 0.012  # a call that is under way when the cap is reached is ended within a minute
    left_of_cap = 0.5 - float(paused.stats.spend.amount)
    assert float(seen.cost.high.amount) == pytest.approx(min(left * 0.12, left_of_cap + beyond))
    assert seen.summary.startswith(f'SIMULATED: Call {left} people left in "Campaign" with agent ')
    assert " USD more" in seen.summary
    assert seen.finishes_at is not None
    assert paused.clock is not None
    assert seen.finishes_at > paused.clock
    resumed = await tenant.client.deployments.resume(id=made.id, plan_id=seen.plan_id)
    assert resumed.plan_id == seen.plan_id
    ended = await tenant.ended(made.id)
    assert (ended.stats.contacts, ended.stats.attempts) == (20, 20)


async def test_a_preview_tells_when_everybody_was_called_inside_the_hours(tenant: Tenant) -> None:
    week: Any = ["mon", "tue", "wed", "thu", "fri"]
    windows = [Window(days=week, start="09:00", end="18:00")]
    hours = CallingHours(timezone_mode="fixed", timezone="UTC", windows=windows)
    now = moment(tenant.services.clock.now_ms())
    friday = (now + timedelta(days=7 + (4 - now.weekday()) % 7)).replace(hour=17, minute=30, second=0, microsecond=0)
    made = await draft(tenant, people(240), calls_per_second=0.1, start_at=friday, calling_hours=hours)
    await tenant.client.phone_numbers.update(id=made.phone_number_ids[0], max_calls_per_day=None)
    seen = await tenant.client.deployments.preview(id=made.id)
    assert seen.estimated_minutes == 40
    assert seen.finishes_at == friday + timedelta(hours=63, minutes=40)  # Monday at 09:10
    own_zones = CallingHours(windows=windows)  # all live in San Francisco, where it is morning
    await tenant.client.deployments.update(id=made.id, calling_hours=own_zones)
    assert (await tenant.client.deployments.preview(id=made.id)).finishes_at == friday + timedelta(minutes=40)
    await tenant.client.deployments.update(id=made.id, end_at=friday + timedelta(minutes=30))
    early = await tenant.client.deployments.preview(id=made.id)
    assert early.finishes_at is None
    assert f"no new call from {friday + timedelta(minutes=30):%Y-%m-%d %H:%M} UTC on" in early.summary


async def test_a_summary_holds_settings_and_counts_but_nothing_of_the_contacts(tenant: Tenant) -> None:
    rows = [row(index, first_name="Zebulon", ok="yes" if index else "no", secret="hush") for index in range(5)]
    agent, people_ = await resources.agent(tenant, "Anna", welcome_message="Hi {{first_name}}"), "Patients"
    audience = await resources.audience(tenant, people_, rows=rows)
    number = await resources.number(tenant)
    made = await tenant.client.deployments.create(
        name="Spring check-in",
        agent_id=agent.id,
        audience_id=audience.id,
        phone_number_id=number.id,
        calling_hours=HOURS,
        compliance=Compliance(consent_column="ok"),
        budget_cap=Spend(amount="54"),
    )
    seen = await tenant.client.deployments.preview(id=made.id)
    assert seen.summary == (
        f'SIMULATED: Call 4 people for "Spring check-in" with agent Anna from {number.number}, '
        "up to 3 attempts each, Mon 09:00-17:00 in each person's own time zone and by the rules of their region, "
        "for at most 54.00 USD."
    )
    assert seen.greeting is not None
    assert seen.greeting.startswith("Hi Zebulon")


async def test_an_import_that_is_still_running_stands_in_the_way(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    assert not [said for said in await problems(tenant, campaign) if "import" in said]
    await tenant.client.audiences.import_csv(id=campaign.audience.id, csv="phone_number\n+12125550161\n")
    assert [said for said in await problems(tenant, campaign) if "import" in said]


async def problems(tenant: Tenant, campaign: Campaign) -> list[str]:
    """What stands in the way by a preview."""
    return (await tenant.client.deployments.preview(id=campaign.deployment.id)).problems
