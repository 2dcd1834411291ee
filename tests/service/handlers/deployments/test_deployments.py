"""Making, reading and changing deployments over the typed client. Their states have a file of their own."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.dialling import CallingHours, Compliance, RetryPolicy, Voicemail, Window
from callwright.service.platform.clock.clock import moment
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal, row
from tests.support.service import Tenant

HOURS = CallingHours(windows=[Window(days=["mon", "tue"], start="09:00", end="17:00")])


def later(tenant: Tenant, **ahead: int) -> datetime:
    """A moment ahead of now, to the second."""
    return (moment(tenant.services.clock.now_ms()) + timedelta(**ahead)).replace(microsecond=0)


@pytest.mark.requirement("STATE-03", "CONV-06", "PATH-07")
async def test_a_draft_is_made_with_its_defaults_and_read_back_the_same(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    made = campaign.deployment
    assert made.id.startswith("dep_")
    assert (made.status, made.status_reason, made.call_type, made.simulated) == ("draft", None, "outbound", True)
    assert made.phone_number_ids == [campaign.number.id]
    assert (made.caller_id_strategy, made.max_concurrency, made.calls_per_second) == ("round_robin", 10, 1.0)
    assert (made.ring_timeout_seconds, made.max_call_duration_seconds) == (30, 600)
    assert (made.retry_policy, made.voicemail, made.compliance) == (RetryPolicy(), Voicemail(), Compliance())
    assert (made.calling_hours, made.budget_cap, made.start_at, made.end_at) == (None, None, None, None)
    assert (made.agent_snapshot, made.started_at, made.completed_at, made.next_dial_at) == (None, None, None, None)
    assert (made.stats.contacts, made.stats.attempts, made.stats.spend.amount) == (0, 0, "0.000000")
    assert made.status_changed_at == made.created_at == made.updated_at
    assert await tenant.client.deployments.get(id=made.id) == made


async def test_everything_that_is_given_is_kept(tenant: Tenant) -> None:
    given: dict[str, Any] = {
        "caller_id_strategy": "sticky",
        "start_at": later(tenant, hours=1),
        "end_at": later(tenant, hours=2),
        "calling_hours": HOURS,
        "max_concurrency": 200,
        "calls_per_second": 0.1,
        "retry_policy": RetryPolicy(max_attempts=5, interval_minutes=[10, 20], retry_on=["busy"]),
        "voicemail": Voicemail(action="leave_message", message_template="Call us, {{first_name}}"),
        "ring_timeout_seconds": 15,
        "max_call_duration_seconds": 3_600,
        "compliance": Compliance(purpose="survey", consent_column="ok", ai_disclosure=False),
        "metadata": {"team": "a"},
    }
    campaign = await resources.draft(tenant, **given, budget_cap=Spend(amount="25"))
    made = campaign.deployment
    assert {name: getattr(made, name) for name in given} == given
    assert made.budget_cap is not None
    assert (made.budget_cap.amount, made.budget_cap.currency) == ("25.000000", "USD")


@pytest.mark.requirement("RES-02", "RES-10")
async def test_one_number_or_several_are_given_but_not_both_and_not_none(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    second = await resources.number(tenant)
    parts: dict[str, Any] = {"agent_id": campaign.agent.id, "audience_id": campaign.audience.id}
    create = tenant.client.deployments.create
    one = await create(name="One", phone_number_id=second.id, **parts)
    assert one.phone_number_ids == [second.id]
    two = await create(name="Two", phone_number_ids=[second.id, campaign.number.id], **parts)
    assert two.phone_number_ids == [second.id, campaign.number.id]
    async with refusal(400, "missing_field", "phone_number_id"):
        await create(name="None", **parts)
    async with refusal(400, "invalid_field", "phone_number_id"):
        await create(name="Both", phone_number_id=second.id, phone_number_ids=[second.id], **parts)
    async with refusal(400, "invalid_field", "phone_number_ids"):
        await create(name="Twice", phone_number_ids=[second.id, second.id], **parts)
    spare = await resources.number(tenant)
    await tenant.client.phone_numbers.release(id=spare.id)
    async with refusal(400, "invalid_field", "phone_number_id"):
        await create(name="Released", phone_number_id=spare.id, **parts)


@pytest.mark.requirement("AUTH-41", "ERR-22", "RES-02")
@pytest.mark.parametrize("field", ["agent_id", "audience_id", "phone_number_id", "phone_number_ids"])
async def test_an_unknown_part_is_not_found_and_named(tenant: Tenant, http: AsyncClient, field: str) -> None:
    campaign = await resources.draft(tenant)
    body: dict[str, Any] = {"name": "Other", **campaign.parts}
    if field == "phone_number_ids":
        del body["phone_number_id"]
    body[field] = ["num_unknown"] if field == "phone_number_ids" else "xyz_unknown"
    refused(await http.post("/v1/deployments", json=body), 404, "not_found", field)
    if field != "phone_number_id":
        answer = await http.patch(f"/v1/deployments/{campaign.deployment.id}", json={field: body[field]})
        refused(answer, 404, "not_found", field)


@pytest.mark.requirement("ERR-22", "ERR-52")
@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("name", "", "name"),
        ("phone_number_ids", [], "phone_number_ids"),
        ("phone_number_ids", ["num_x"] * 101, "phone_number_ids"),
        ("caller_id_strategy", "loudest", "caller_id_strategy"),
        ("start_at", "tomorrow", "start_at"),
        ("start_at", "2026-01-01T00:00:00", "start_at"),
        ("end_at", "2020-01-01T00:00:00Z", "end_at"),
        ("max_concurrency", 0, "max_concurrency"),
        ("max_concurrency", 1_001, "max_concurrency"),
        ("max_concurrency", "10", "max_concurrency"),
        ("max_concurrency", True, "max_concurrency"),
        ("calls_per_second", 0, "calls_per_second"),
        ("calls_per_second", 100.1, "calls_per_second"),
        ("ring_timeout_seconds", 14, "ring_timeout_seconds"),
        ("max_call_duration_seconds", 3_601, "max_call_duration_seconds"),
        ("retry_policy", {"max_attempts": 11}, "retry_policy.max_attempts"),
        ("retry_policy", {"interval_minutes": [9]}, "retry_policy.interval_minutes.0"),
        ("retry_policy", {"interval_minutes": []}, "retry_policy.interval_minutes"),
        ("retry_policy", {"retry_on": ["boredom"]}, "retry_policy.retry_on.0"),
        ("voicemail", {"action": "leave_message"}, "voicemail"),
        ("budget_cap", {"amount": "-1"}, "budget_cap.amount"),
        ("budget_cap", {"amount": "0.0000001"}, "budget_cap.amount"),
        ("budget_cap", {"amount": 5}, "budget_cap.amount"),
        ("budget_cap", {"amount": "5", "currency": "EUR"}, "budget_cap.currency"),
        ("calling_hours", {"windows": []}, "calling_hours.windows"),
        ("calling_hours", {"timezone_mode": "fixed", "windows": [HOURS.windows[0].model_dump()]}, "calling_hours"),
        ("compliance", {"purpose": "fun"}, "compliance.purpose"),
        ("metadata", ["x"], "metadata"),
    ],
)
async def test_a_bad_field_is_refused_by_name_on_making_and_changing(
    tenant: Tenant, http: AsyncClient, field: str, value: object, named: str
) -> None:
    campaign = await resources.draft(tenant)
    path = f"/v1/deployments/{campaign.deployment.id}"
    body: dict[str, Any] = {
        "name": "Other",
        "agent_id": campaign.agent.id,
        "audience_id": campaign.audience.id,
        "phone_number_ids": [campaign.number.id],
        field: value,
    }
    refused(await http.post("/v1/deployments", json=body), 400, "invalid_field", named)
    refused(await http.patch(path, json={field: value}), 400, "invalid_field", named)
    assert await tenant.client.deployments.get(id=campaign.deployment.id) == campaign.deployment


@pytest.mark.parametrize(
    ("window", "named"),
    [
        ({"days": ["mon"], "start": "17:00", "end": "09:00"}, ""),
        ({"days": ["mon"], "start": "09:00", "end": "09:00"}, ""),
        ({"days": ["mon"], "start": "9:00", "end": "17:00"}, ".start"),
        ({"days": ["mon"], "start": "09:00", "end": "24:01"}, ".end"),
        ({"days": ["monday"], "start": "09:00", "end": "17:00"}, ".days.0"),
        ({"days": [], "start": "09:00", "end": "17:00"}, ".days"),
    ],
)
async def test_a_bad_window_is_refused_by_its_place(
    tenant: Tenant, http: AsyncClient, window: dict[str, Any], named: str
) -> None:
    path = f"/v1/deployments/{(await resources.draft(tenant)).deployment.id}"
    answer = await http.patch(path, json={"calling_hours": {"windows": [window]}})
    refused(answer, 400, "invalid_field", f"calling_hours.windows.0{named}")
    zone = {"timezone": "Mars/Base", "windows": [HOURS.windows[0].model_dump()]}
    answer = await http.patch(path, json={"calling_hours": zone})
    refused(answer, 400, "invalid_field", "calling_hours.timezone")


async def test_an_end_lies_after_now_and_after_the_start(tenant: Tenant) -> None:
    async with refusal(400, "invalid_field", "end_at"):
        await resources.draft(tenant, start_at=later(tenant, hours=2), end_at=later(tenant, hours=2))
    made = (await resources.draft(tenant, "Other", end_at=later(tenant, hours=2))).deployment
    async with refusal(400, "invalid_field", "end_at"):
        await tenant.client.deployments.update(id=made.id, start_at=later(tenant, hours=3))
    async with refusal(400, "invalid_field", "end_at"):
        await tenant.client.deployments.update(id=made.id, end_at=datetime(2020, 1, 1, tzinfo=UTC))
    moved = await tenant.client.deployments.update(
        id=made.id, start_at=later(tenant, hours=3), end_at=later(tenant, hours=4)
    )
    assert moved.start_at is not None


@pytest.mark.requirement("CONV-20", "CONV-21", "PATH-26")
async def test_a_change_touches_only_what_it_names_and_null_clears_what_may_be_empty(
    tenant: Tenant, http: AsyncClient
) -> None:
    times: dict[str, Any] = {"start_at": later(tenant, hours=1), "end_at": later(tenant, hours=2)}
    made = (await resources.draft(tenant, calling_hours=HOURS, budget_cap=Spend(amount="5"), **times)).deployment
    path = f"/v1/deployments/{made.id}"
    changed = await tenant.client.deployments.update(id=made.id, calls_per_second=2.5)
    assert changed.calls_per_second == 2.5
    kept = made.model_dump(exclude={"calls_per_second", "updated_at", "revision"})
    assert changed.model_dump(exclude={"calls_per_second", "updated_at", "revision"}) == kept
    clearable = {"start_at", "end_at", "calling_hours", "budget_cap"}
    cleared = await http.patch(path, json=dict.fromkeys(clearable))
    assert {name: cleared.json()["data"][name] for name in clearable} == dict.fromkeys(clearable)
    for field in ("name", "agent_id", "audience_id", "phone_number_ids", "retry_policy", "voicemail"):
        refused(await http.patch(path, json={field: None}), 400, "invalid_field", field)


@pytest.mark.requirement("ERR-60")
async def test_a_name_is_unique(tenant: Tenant) -> None:
    first, second = await resources.draft(tenant, "First"), await resources.draft(tenant, "Second")
    async with refusal(409, "duplicate_name", "name"):
        await tenant.client.deployments.update(id=second.deployment.id, name="First")
    async with refusal(409, "duplicate_name", "name"):
        await tenant.client.deployments.create(name="First", **first.parts)
    assert (await tenant.client.deployments.update(id=first.deployment.id, name="First")).name == "First"


@pytest.mark.requirement("LIMIT-17", "ERR-69")
@pytest.mark.service(plan="starter")
async def test_the_plan_bounds_the_calls_at_a_time(tenant: Tenant) -> None:
    made = (await resources.draft(tenant, max_concurrency=10)).deployment
    async with refusal(422, "plan_limit_reached", "max_concurrency") as kept:
        await tenant.client.deployments.update(id=made.id, max_concurrency=11)
    assert kept[0].details == {"limit": 10, "current": 11}
    async with refusal(422, "plan_limit_reached", "max_concurrency"):
        await resources.draft(tenant, "Other", max_concurrency=50)
    async with tenant.another_organization(plan="enterprise") as other:
        assert (await resources.draft(other, max_concurrency=1_000)).deployment.max_concurrency == 1_000


@pytest.mark.requirement("CONV-30")
async def test_a_variable_without_a_column_is_named_when_the_deployment_is_made(tenant: Tenant) -> None:
    async with refusal(400, "invalid_field", "audience_id") as kept:
        template = Voicemail(action="leave_message", message_template="On {{day}}")
        await resources.draft(tenant, voicemail=template)
    assert "'day'" in kept[0].message


@pytest.mark.requirement("PATH-12", "FILTER-02", "FILTER-03")
async def test_deployments_are_found_by_state_name_agent_and_audience(tenant: Tenant) -> None:
    first, second = await resources.draft(tenant, "First"), await resources.draft(tenant, "Second")
    await tenant.client.deployments.cancel(id=second.deployment.id)
    find = tenant.client.deployments.list
    assert [entry.name async for entry in find(status=["draft"])] == ["First"]
    assert [entry.name async for entry in find(status=["draft", "cancelled"], sort="name")] == ["First", "Second"]
    assert [entry.name async for entry in find(name="Second")] == ["Second"]
    assert [entry.name async for entry in find(agent_id=first.agent.id)] == ["First"]
    assert [entry.name async for entry in find(audience_id=second.audience.id)] == ["Second"]
    assert [entry.name async for entry in find(call_type="outbound", sort="-name")] == ["Second", "First"]
    assert len([entry async for entry in find(sort="-started_at,name")]) == 2


async def test_a_placeholder_that_is_no_column_is_refused_with_the_nearest_column(tenant: Tenant) -> None:
    people = await resources.audience(tenant, rows=[{"phone_number": "+12125550100", "First Name": "Ada"}])
    number = await resources.number(tenant)
    parts: dict[str, Any] = {"audience_id": people.id, "phone_number_id": number.id}
    wrong = await resources.agent(tenant, "Wrong", welcome_message="Hello {{frist name|there}}!")
    async with refusal(400, "invalid_field", "audience_id") as kept:
        await tenant.client.deployments.create(name="W", agent_id=wrong.id, **parts)
    assert "no column 'frist name'" in kept[0].message
    assert "the nearest is 'First Name': write {{First Name}}" in kept[0].message
    right = await resources.agent(tenant, "Right", welcome_message="Hello {{first_name}}!")
    made = await tenant.client.deployments.create(name="R", agent_id=right.id, **parts)
    seen = await tenant.client.deployments.preview(id=made.id)
    assert (seen.problems, seen.missing_variables) == ([], [])
    assert seen.greeting is not None
    assert seen.greeting.startswith("Hello Ada!")
    await tenant.client.agents.update(id=right.id, welcome_message="Hello {{first nme}}!")
    seen = await tenant.client.deployments.preview(id=made.id)
    assert [said.rpartition("; ")[2] for said in seen.problems] == ["the nearest is 'First Name': write {{First Name}}"]
    async with refusal(422, "audience_not_ready"):
        await tenant.client.deployments.start(id=made.id)


async def test_a_preview_says_who_would_be_called_and_changes_nothing(tenant: Tenant) -> None:
    agent = await resources.agent(tenant, welcome_message="Hello {{first_name}}!")
    rows = [row(0, ok="yes"), row(1, ok="no"), row(2, ok="", first_name=""), row(0), {"phone_number": "x"}]
    people = await resources.audience(tenant, rows=rows)
    number = await resources.number(tenant)
    parts: dict[str, Any] = {"agent_id": agent.id, "audience_id": people.id, "phone_number_id": number.id}
    made = await tenant.client.deployments.create(
        name="D", compliance=Compliance(consent_column="ok"), budget_cap=Spend(amount="0.01"), **parts
    )
    seen = await tenant.client.deployments.preview(id=made.id)
    assert (seen.deployment_id, seen.simulated, seen.eligible, seen.max_attempts) == (made.id, True, 1, 3)
    assert {blocked.reason: blocked.count for blocked in seen.blocked} == {
        "no_consent": 2,
        "invalid_row": 1,
        "duplicate": 1,
    }
    assert [(missing.name, missing.contacts) for missing in seen.missing_variables] == [("first_name", 1)]
    assert seen.greeting is not None
    assert seen.greeting.startswith("Hello Person 0! ")  # and that a machine is calling
    assert (seen.cost.high.amount, seen.cost.covered) == ("0.010000", True)
    assert ([said.partition(":")[0] for said in seen.problems], len(seen.warnings)) == (["budget_reached"], 1)
    assert "column 'first_name' of 1 of 3 people in the audience" in seen.warnings[0]
    assert await tenant.client.deployments.get(id=made.id) == made
    assert (await tenant.client.calls.list()).pagination.total == 0
