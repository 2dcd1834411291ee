"""A start that is bound to a plan: nobody is called unless all is as the preview showed it."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import CallingHours, Compliance, RetryPolicy, Voicemail, Window
from callwright.service.platform.clock.clock import MINUTE, moment
from callwright.service.tables.schema import deployments
from callwright.service.workers import imports
from tests.support import resources
from tests.support.campaigns import ONCE, audience_of, draft, people, suspend_numbers
from tests.support.deployments.plans import in_future, make_real, nobody_is_called, plan_of
from tests.support.held_writes import ends_soon, rows_being_added
from tests.support.http.raw_requests import AsyncClient
from tests.support.prices import change_prices
from tests.support.resources import Campaign, refusal, row
from tests.support.service import Tenant
from tests.support.tasks import all_at_once

Change = Callable[[Tenant, Campaign], Awaitable[Any]]
HOURS = CallingHours(windows=[Window(days=["mon"], start="09:00", end="17:00")])


async def started_by(tenant: Tenant, deployment_id: str) -> str | None:
    """The key that is kept as having started it."""
    statement = select(deployments.c.started_by_key_id).where(deployments.c.id == deployment_id)
    return await tenant.database.read(lambda connection: connection.execute(statement).scalar_one())


def updated(**changes: Any) -> Change:
    """A change of the deployment."""

    async def change(tenant: Tenant, campaign: Campaign) -> None:
        await tenant.client.deployments.update(id=campaign.deployment.id, **changes)

    return change


async def _row_added(tenant: Tenant, campaign: Campaign) -> None:
    await tenant.client.audiences.add_rows(id=campaign.audience.id, rows=[row(1)])


async def _row_added_with_new_words(tenant: Tenant, campaign: Campaign) -> None:
    await tenant.client.audiences.add_rows(id=campaign.audience.id, rows=[row(1, note="x")])


async def _import_waits(tenant: Tenant, campaign: Campaign) -> None:
    await tenant.client.audiences.import_csv(id=campaign.audience.id, csv="phone_number\n+12125550161\n")


async def _import_done(tenant: Tenant, campaign: Campaign) -> None:
    await _import_waits(tenant, campaign)
    assert await imports.work_on_one(tenant.services, "wrk_test")


async def _other_audience(tenant: Tenant, campaign: Campaign) -> None:
    other = await resources.audience(tenant, "Others")
    await tenant.client.deployments.update(id=campaign.deployment.id, audience_id=other.id)


def agent_changed(**changes: Any) -> Change:
    """A change of what the agent says, or how."""

    async def change(tenant: Tenant, campaign: Campaign) -> None:
        await tenant.client.agents.update(id=campaign.agent.id, **changes)

    return change


async def _other_agent(tenant: Tenant, campaign: Campaign) -> None:
    await tenant.client.deployments.update(
        id=campaign.deployment.id, agent_id=(await resources.agent(tenant, "Bea")).id
    )


async def _other_number(tenant: Tenant, campaign: Campaign) -> None:
    number = await resources.number(tenant)
    numbers = [number.id, campaign.number.id]
    await tenant.client.deployments.update(id=campaign.deployment.id, phone_number_ids=numbers)


async def _numbers_suspended(tenant: Tenant, _: Campaign) -> None:
    await suspend_numbers(tenant)


async def _later(tenant: Tenant, campaign: Campaign) -> None:
    start_at = moment(tenant.services.clock.now_ms()) + timedelta(hours=1)
    await tenant.client.deployments.update(id=campaign.deployment.id, start_at=start_at)


CHANGES: list[tuple[str, str, Change]] = [
    ("audience", "the audience has", _row_added),
    ("audience", "the audience has", _row_added_with_new_words),
    ("audience", "the audience has", _import_waits),
    ("audience", "the audience has", _import_done),
    ("audience", "the audience has", _other_audience),
    ("agent", "the agent has", agent_changed(system_prompt="Sell something to {{first_name}}.")),
    ("agent", "the agent has", agent_changed(welcome_message="Hi!")),
    ("agent", "the agent has", agent_changed(voice_id="en-GB-olivia")),
    ("agent", "the agent has", agent_changed(language="en-GB")),
    ("agent", "the agent has", agent_changed(name="Bea")),
    ("agent", "the agent has", _other_agent),
    ("numbers", "the phone numbers have", _other_number),
    ("numbers", "the phone numbers have", _numbers_suspended),
    ("window", "the calling times have", updated(calling_hours=HOURS)),
    ("window", "the calling times have", _later),
    ("retries", "the retry policy has", updated(retry_policy=RetryPolicy(max_attempts=9))),
    ("cap", "the budget cap has", updated(budget_cap=Spend(amount="99"))),
    ("settings", "the call settings have", updated(max_concurrency=9)),
    ("settings", "the call settings have", updated(calls_per_second=9.0)),
    ("settings", "the call settings have", updated(ring_timeout_seconds=59)),
    ("settings", "the call settings have", updated(max_call_duration_seconds=59)),
    ("settings", "the call settings have", updated(caller_id_strategy="random")),
    ("settings", "the call settings have", updated(compliance=Compliance(ai_disclosure=False))),
    ("settings", "the call settings have", updated(voicemail=Voicemail(action="continue"))),
]


@pytest.mark.requirement("ERR-78")
@pytest.mark.parametrize(("part", "said", "change"), CHANGES)
async def test_a_plan_is_stale_when_a_part_of_it_has_changed(
    tenant: Tenant, part: str, said: str, change: Change
) -> None:
    campaign = await resources.draft(tenant)
    made = campaign.deployment.id
    plan_id = await plan_of(tenant, made)
    await change(tenant, campaign)
    async with refusal(409, "plan_stale") as kept:
        await tenant.client.deployments.start(id=made, plan_id=plan_id)
    assert kept[0].details == {"changed": [part]}
    assert kept[0].message == f"{said} changed since the preview"
    assert await nobody_is_called(tenant, made)


@pytest.mark.requirement("ERR-90")
@pytest.mark.parametrize(("part", "said", "change"), CHANGES)
async def test_a_preview_of_a_plan_is_refused_when_a_part_of_it_has_changed(
    tenant: Tenant, part: str, said: str, change: Change
) -> None:
    campaign = await resources.draft(tenant)
    made = campaign.deployment.id
    plan_id = await plan_of(tenant, made)
    await change(tenant, campaign)
    async with refusal(409, "plan_stale") as kept:
        await tenant.client.deployments.preview(id=made, plan_id=plan_id)
    assert kept[0].details == {"changed": [part]}


@pytest.mark.requirement("ERR-90")
async def test_a_preview_of_a_plan_that_holds_is_about_that_plan(tenant: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment.id
    first = await tenant.client.deployments.preview(id=made)
    async with in_future(tenant, 14 * MINUTE) as later:
        again = await later.deployments.preview(id=made, plan_id=first.plan_id)
    assert (again.plan_id, again.plan_valid_until) == (first.plan_id, first.plan_valid_until)
    assert again.summary == first.summary
    async with in_future(tenant, 16 * MINUTE) as later, refusal(409, "plan_expired"):
        await later.deployments.preview(id=made, plan_id=first.plan_id)
    other = (await resources.draft(tenant, "Other")).deployment.id
    async with refusal(400, "invalid_field", "plan_id"):
        await tenant.client.deployments.preview(id=other, plan_id=first.plan_id)


async def test_a_plan_is_stale_when_the_prices_have_changed(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    made = (await resources.draft(tenant)).deployment.id
    plan_id = await plan_of(tenant, made)
    change_prices(monkeypatch, minute=12_001)
    async with refusal(409, "plan_stale") as kept:
        await tenant.client.deployments.start(id=made, plan_id=plan_id)
    assert kept[0].details == {"changed": ["prices"]}
    assert await nobody_is_called(tenant, made)


async def test_a_plan_of_the_simulated_network_starts_nothing_real(tenant: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment.id
    plan_id = await plan_of(tenant, made)
    await make_real(tenant, made)
    async with refusal(409, "plan_stale"):
        await tenant.client.deployments.start(id=made, plan_id=plan_id)
    assert await nobody_is_called(tenant, made)


async def test_everything_that_has_changed_is_named_at_once(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    plan_id = await plan_of(tenant, campaign.deployment.id)
    await _row_added(tenant, campaign)
    await updated(budget_cap=Spend(amount="99"), max_concurrency=9)(tenant, campaign)
    async with refusal(409, "plan_stale") as kept:
        await tenant.client.deployments.start(id=campaign.deployment.id, plan_id=plan_id)
    assert kept[0].details == {"changed": ["audience", "cap", "settings"]}
    assert kept[0].message == "the audience, the budget cap and the call settings have changed since the preview"


async def test_what_does_not_change_the_plan_leaves_it_valid(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    made = campaign.deployment.id
    plan_id = await plan_of(tenant, made)
    await tenant.client.deployments.update(id=made, name="Renamed", metadata={"a": "b"})
    await tenant.client.audiences.update(id=campaign.audience.id, description="Patients of the practice.")
    await tenant.client.agents.update(id=campaign.agent.id, metadata={"a": "b"})
    await tenant.client.phone_numbers.update(id=campaign.number.id, label="Front desk")
    started = await tenant.client.deployments.start(id=made, plan_id=plan_id)
    assert (started.status, started.plan_id, started.stats.pending) == ("active", plan_id, 1)
    assert await started_by(tenant, made) == started.created_by_key_id


async def test_two_previews_of_the_same_give_the_same_sentence(tenant: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment.id
    first = await tenant.client.deployments.preview(id=made)
    async with in_future(tenant, MINUTE) as client:
        second = await client.deployments.preview(id=made)
    assert second.summary == first.summary
    assert second.plan_id != first.plan_id
    assert second.plan_valid_until > first.plan_valid_until


@pytest.mark.service(workers=True)
async def test_the_same_plan_twice_is_one_start_and_one_set_of_calls(tenant: Tenant) -> None:
    made = await draft(tenant, people(30, sim_outcome="answered"), retry_policy=ONCE)
    plan_id = await plan_of(tenant, made.id)
    answers: list[Deployment] = []

    async def start() -> None:
        answers.append(await tenant.client.deployments.start(id=made.id, plan_id=plan_id))

    await all_at_once(5, start, within_s=30)
    assert {answer.plan_id for answer in answers} == {plan_id}
    ended = await tenant.ended(made.id)
    again = await tenant.client.deployments.start(id=made.id, plan_id=plan_id)
    assert again == ended
    assert (again.status, again.stats.attempts) == ("completed", 30)
    async with in_future(tenant, 60 * MINUTE) as client:
        assert (await client.deployments.start(id=made.id, plan_id=plan_id)).stats == ended.stats
    assert (await tenant.client.calls.list(deployment_id=made.id)).pagination.total == 30


async def test_another_plan_of_what_was_started_meanwhile_is_stale(tenant: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment.id
    first = await plan_of(tenant, made)
    async with in_future(tenant, MINUTE) as client:
        second = (await client.deployments.preview(id=made)).plan_id
    await tenant.client.deployments.start(id=made, plan_id=first)
    async with refusal(409, "plan_stale") as kept:
        await tenant.client.deployments.start(id=made, plan_id=second)
    assert kept[0].details == {"changed": ["progress"]}
    running = await plan_of(tenant, made)
    assert (await tenant.client.deployments.start(id=made, plan_id=running)).plan_id == first


async def test_rows_that_are_being_added_at_the_start_are_waited_for_and_make_the_plan_stale(tenant: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment
    plan_id = await plan_of(tenant, made.id)

    async def start() -> None:
        async with refusal(409, "plan_stale"):
            await tenant.client.deployments.start(id=made.id, plan_id=plan_id)

    async with rows_being_added(tenant, audience_of(made), [row(1)]) as tasks:
        await ends_soon(tasks, start)
    assert await nobody_is_called(tenant, made.id)


@pytest.mark.requirement("ERR-78")
async def test_a_plan_can_be_used_for_15_minutes(tenant: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment.id
    seen = await tenant.client.deployments.preview(id=made)
    left = seen.plan_valid_until - moment(tenant.services.clock.now_ms())
    assert timedelta(minutes=14) < left <= timedelta(minutes=15)
    async with in_future(tenant, 15 * MINUTE) as client:
        async with refusal(409, "plan_expired"):
            await client.deployments.start(id=made, plan_id=seen.plan_id)
    assert await nobody_is_called(tenant, made)
    async with in_future(tenant, 14 * MINUTE) as client:
        assert (await client.deployments.start(id=made, plan_id=seen.plan_id)).status == "active"


async def test_a_plan_of_something_else_or_altered_is_refused_by_name(
    tenant: Tenant, other: Tenant, http: AsyncClient
) -> None:
    mine, second = (
        (await resources.draft(tenant)).deployment.id,
        (await resources.draft(tenant, "Second")).deployment.id,
    )
    theirs = (await resources.draft(other)).deployment.id
    plan_id = await plan_of(tenant, mine)
    altered = plan_id[:-10] + ("A" if plan_id[-10] != "A" else "B") + plan_id[-9:]
    for wrong in (await plan_of(tenant, second), await plan_of(other, theirs), altered, "pln_x", plan_id[4:]):
        async with refusal(400, "invalid_field", "plan_id"):
            await tenant.client.deployments.start(id=mine, plan_id=wrong)
    async with refusal(404, "not_found"):
        await other.client.deployments.start(id=mine, plan_id=plan_id)
    for wrong in ("", "x" * 201, 5):
        answer = await http.post(f"/v1/deployments/{mine}/start", json={"plan_id": wrong})
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, "plan_id")
    assert await nobody_is_called(tenant, mine)
