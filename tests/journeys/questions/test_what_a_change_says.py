"""What a person reads before a campaign that dials, or begins by itself, is changed: every value, people by name."""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.deployments import Deployment
from callwright.service.workers import imports
from tests.journeys.hosts import Host
from tests.support.campaigns import audience_of, draft, make_agent, make_audience, people, rent
from tests.support.prices import change_prices
from tests.support.service import Tenant

EVERY_HOUR: dict[str, Any] = {
    "timezone": "UTC",
    "windows": [
        {"days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "start": f"{hour:02}:00", "end": f"{hour:02}:55"}
        for hour in range(21)
    ],
}


@pytest.fixture
async def campaign(tenant: Tenant) -> Deployment:
    made = await draft(tenant, people(3), "Spring", start_at=datetime(2099, 1, 1, 10, tzinfo=UTC))
    await tenant.client.deployments.start(id=made.id)
    return made


async def test_a_value_that_dials_more_is_read_however_many_windows_stand_beside_it(
    tenant: Tenant, found: Host, campaign: Deployment
) -> None:
    await found.data(
        "update_deployment",
        deployment_id=campaign.id,
        calling_hours=EVERY_HOUR,
        max_concurrency=1_000,
        retry_policy={"max_attempts": 10, "interval_minutes": [10]},
        max_call_duration_seconds=3_600,
    )
    (question,) = found.person.asked
    assert "max_concurrency 1000" in question
    assert "max_attempts 10" in question
    assert "max_call_duration_seconds 3600" in question
    assert "21 windows" in question
    assert question.index("max_concurrency") < question.index("calling_hours")
    assert "…" not in question
    assert (await tenant.client.deployments.get(id=campaign.id)).max_concurrency == 1_000


@pytest.mark.parametrize("answer", ["accept", None])
async def test_a_change_that_fits_into_no_question_is_not_made(
    tenant: Tenant, found: Host, campaign: Deployment
) -> None:
    said = await found.refused(
        "update_deployment",
        deployment_id=campaign.id,
        calling_hours=EVERY_HOUR,
        max_concurrency=1_000,
        calls_per_second=50.0,
        budget_cap={"amount": "90000.00"},
        retry_policy={
            "max_attempts": 10,
            "interval_minutes": [10, 20, 30, 40, 50, 60, 70, 80, 90],
            "busy_interval_minutes": 5,
            "retry_on": ["no_answer", "busy", "failed", "voicemail", "rejected", "short_call"],
            "short_call_seconds": 120,
            "max_attempts_per_day": 10,
            "different_time_of_day": False,
        },
        voicemail={"detection": True, "action": "leave_message", "message_template": "Call us back. " * 140},
        compliance={"purpose": "marketing", "consent_column": "c" * 80, "ai_disclosure": False},
        max_call_duration_seconds=3_600,
        ring_timeout_seconds=60,
        caller_id_strategy="round_robin",
        agent_id=(await make_agent(tenant, "A" * 200)).id,
        audience_id=(await make_audience(tenant, people(1, first=50), "B" * 200)).id,
    )
    assert "Change fewer fields at a time" in said
    assert found.person.asked == []
    assert (await tenant.client.deployments.get(id=campaign.id)).max_concurrency == campaign.max_concurrency


@pytest.mark.parametrize("answer", ["accept", None])
async def test_a_start_that_is_over_is_refused_before_anybody_is_asked(
    tenant: Tenant, found: Host, campaign: Deployment
) -> None:
    said = await found.refused("update_deployment", deployment_id=campaign.id, start_at="2020-01-01T00:00:00Z")
    assert said.startswith("start_at: must be later than now")
    assert "start_deployment" in said
    assert "«" not in said
    assert found.person.asked == []
    assert (await tenant.client.deployments.get(id=campaign.id)).start_at == campaign.start_at


@pytest.mark.parametrize("answer", ["accept", None])
@pytest.mark.parametrize("has_newer", [False, True])
@pytest.mark.parametrize("is_other", [True, False])
async def test_nobody_is_asked_about_people_while_a_file_is_being_imported_among_them(
    is_other: bool, has_newer: bool, tenant: Tenant, found: Host, campaign: Deployment
) -> None:
    other = await make_audience(tenant, people(5, first=50), "Others")
    given = {"audience_id": other.id} if is_other else {"max_concurrency": 7}
    audience = other.id if is_other else str(campaign.audience_id)
    csv = "phone_number,first_name\n" + "".join(f"{p['phone_number']},Ada\n" for p in people(30, first=500))
    waiting = await tenant.client.audiences.import_csv(id=audience, csv=None if has_newer else csv)
    if has_newer:  # the older one waits for its file
        newer = await tenant.client.audiences.import_csv(id=audience, csv=csv)
        assert await imports.work_on_one(tenant.service.services, "wrk_test")
        ended = await tenant.client.audiences.get_import(id=audience, import_id=newer.id)
        assert ended.status == "completed"
    assert (await tenant.client.audiences.get(id=audience)).open_imports == [waiting.id]
    said = await found.refused("update_deployment", deployment_id=campaign.id, **given)
    assert said.startswith(f"audience_id: import {waiting.id} has not ended")
    assert found.person.asked == []
    now = await tenant.client.deployments.get(id=campaign.id)
    assert (now.audience_id, now.max_concurrency) == (campaign.audience_id, campaign.max_concurrency)


@pytest.mark.parametrize("answer", ["accept", None])
async def test_a_start_of_a_scheduled_campaign_that_is_cleared_is_refused_before_anybody_is_asked(
    tenant: Tenant, found: Host, campaign: Deployment
) -> None:
    said = await found.refused("update_deployment", deployment_id=campaign.id, start_at=None, max_concurrency=2)
    assert said.startswith("start_at: cannot be cleared while the deployment is scheduled")
    assert found.person.asked == []
    assert (await tenant.client.deployments.get(id=campaign.id)).start_at == campaign.start_at


async def test_a_change_that_a_plan_does_not_fit_says_that_the_campaign_then_waits(tenant: Tenant, found: Host) -> None:
    at = datetime(2099, 1, 1, 10, tzinfo=UTC)
    planned = await draft(tenant, people(3, first=50), "Planned", start_at=at)
    plan = await found.data("preview_deployment", deployment_id=planned.id)
    await tenant.client.deployments.start(id=planned.id, plan_id=plan["plan_id"])
    await found.data("update_deployment", deployment_id=planned.id, calls_per_second=2.0)
    (question,) = found.person.asked
    assert "it no longer fits its plan, so at its moment it pauses and waits for a person" in question


async def test_other_people_another_agent_and_other_numbers_are_read_by_name_and_count(
    tenant: Tenant, found: Host, campaign: Deployment
) -> None:
    large = await make_audience(tenant, people(200, first=500), "Everybody")
    agent, number = await make_agent(tenant, "Eve"), await rent(tenant)
    await found.data(
        "update_deployment",
        deployment_id=campaign.id,
        audience_id=large.id,
        agent_id=agent.id,
        phone_number_ids=[number.id],
    )
    (question,) = found.person.asked
    assert '"Spring", which begins by itself at 2099-01-01 10:00Z' in question
    assert 'audience_id "Everybody" with 200 people' in question
    assert 'agent_id "Eve"' in question
    assert f"phone_number_ids [{number.number}]" in question
    assert not any(one in question for one in (large.id, agent.id, number.id))
    assert audience_of(await tenant.client.deployments.get(id=campaign.id)) == large.id


async def test_people_who_come_into_the_other_audience_while_the_question_stands_are_not_called(
    tenant: Tenant, found: Host, campaign: Deployment
) -> None:
    other = await make_audience(tenant, people(1, first=500), "One person")

    async def many_come() -> None:
        await tenant.client.audiences.add_rows(id=other.id, rows=people(200, first=600))

    found.person.before_answer = many_come
    said = await found.refused("update_deployment", deployment_id=campaign.id, audience_id=other.id)
    assert "changed" in said
    assert "with 1 person:" in found.person.asked[0] or "with 1 person." in found.person.asked[0]
    assert audience_of(await tenant.client.deployments.get(id=campaign.id)) == audience_of(campaign)


LATER = datetime(2099, 1, 1, tzinfo=UTC)


def told(sentence: str) -> str:
    """What a start's sentence says of money."""
    return f"for {sentence.rsplit(', for ', 1)[1].rstrip('.')}"


@pytest.mark.parametrize(
    "change",
    [
        {"calls_per_second": 2.0},
        {"retry_policy": {"max_attempts": 7}},
        {"max_call_duration_seconds": 1_200},
        {"budget_cap": {"amount": "0.50"}},
        {"budget_cap": {"amount": "90.00"}, "max_concurrency": 2},
        {"audience_id": "Everybody"},
    ],
    ids=lambda change: "+".join(change),
)
async def test_the_money_is_told_as_a_start_would_tell_it_after_the_change(
    change: dict[str, Any], tenant: Tenant, found: Host, campaign: Deployment
) -> None:
    everybody = await make_audience(tenant, people(40, first=500), "Everybody")
    given = {**change, "audience_id": everybody.id} if "audience_id" in change else change
    await found.data("update_deployment", deployment_id=campaign.id, **given)
    (question,) = found.person.asked
    after = await tenant.client.deployments.preview(id=campaign.id)
    assert question.endswith(f" It may then call {after.eligible} people {told(after.summary)}.")


@pytest.mark.parametrize("becomes", ["more people", "dearer"])
async def test_a_change_that_would_cost_something_else_by_now_is_not_made(
    becomes: str, monkeypatch: pytest.MonkeyPatch, tenant: Tenant, found: Host, campaign: Deployment
) -> None:
    found.person.before_answer = figures_change(tenant, campaign, becomes, monkeypatch)
    said = await found.refused("update_deployment", deployment_id=campaign.id, calls_per_second=2.0)
    assert "changed" in said
    assert said.count("It may then call") == 1
    (question,) = found.person.asked
    assert question not in said
    assert (await tenant.client.deployments.get(id=campaign.id)).calls_per_second == campaign.calls_per_second


@pytest.mark.parametrize("becomes", ["more people", "dearer"])
@pytest.mark.parametrize("answer", [None])
async def test_the_sentence_of_a_change_with_other_money_is_no_yes_where_nobody_can_be_asked(
    becomes: str, monkeypatch: pytest.MonkeyPatch, tenant: Tenant, found: Host, campaign: Deployment
) -> None:
    change = {"id": campaign.id, "calls_per_second": 2.0}
    sentence = (await found.refused("update_deployment", **change)).split("«")[1].split("»")[0]
    assert "It may then call 3 people for at most" in sentence
    await figures_change(tenant, campaign, becomes, monkeypatch)()
    said = await found.refused("update_deployment", **change, person_agreed_to=sentence)
    assert "not what would happen" in said
    now = said.split("«")[1].split("»")[0]
    await found.data("update_deployment", **change, person_agreed_to=now)


def figures_change(
    tenant: Tenant, campaign: Deployment, becomes: str, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], Awaitable[None]]:
    async def more_people() -> None:
        await tenant.client.audiences.add_rows(id=audience_of(campaign), rows=people(2, first=700))

    async def dearer() -> None:
        change_prices(monkeypatch, minute=15_000)
        await make_agent(tenant, "Somebody else")  # what is not written to gives the answers that it knows

    return more_people if becomes == "more people" else dearer


JOINING: dict[str, dict[str, Any]] = {
    "add_audience_rows": {"rows": people(2, first=50)},
    "import_audience": {"csv": "phone_number,first_name\n+14155550150,Ann\n+14155550151,Bob\n", "wait_seconds": 0},
}


@pytest.mark.parametrize("tool", JOINING)
async def test_what_people_who_join_may_cost_is_told_for_all_campaigns_that_call_them(
    tool: str, monkeypatch: pytest.MonkeyPatch, tenant: Tenant, found: Host, campaign: Deployment
) -> None:
    audience = audience_of(campaign)
    before = await tenant.client.deployments.preview(id=campaign.id)
    capped = await draft(tenant, [], "Capped", audience_id=audience, start_at=LATER, budget_cap=Spend(amount="0.06"))
    await tenant.client.deployments.start(id=capped.id)
    found.person.before_answer = figures_change(tenant, campaign, "dearer", monkeypatch)
    assert "changed" in await found.refused(tool, id=audience, **JOINING[tool])
    monkeypatch.undo()
    await make_agent(tenant, "Somebody else again")

    async def nothing() -> None: ...

    found.person.before_answer = nothing
    await found.data(tool, id=audience, **JOINING[tool])
    for_two = float(before.cost.high.amount) * 2 / 3
    (at_most,) = re.findall(r" calls them too, for at most (\d+\.\d\d) USD more\.", found.person.asked[-1])
    # Of the capped one what its cap leaves, and a minute of each of two calls beyond it.
    assert float(at_most) == pytest.approx(for_two + min(for_two, 0.06 + 2 * 0.012), abs=0.01)
