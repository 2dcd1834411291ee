"""Inbound deployments over the typed client: making them, and the number that belongs to one at a time."""

from typing import Any

import pytest
from sqlalchemy import update

from callwright.contract.deployments.call_price import MICROS
from callwright.contract.deployments.dialling import Window
from callwright.contract.deployments.inbound import AfterHours, BusinessHours, InboundChanges, Overflow
from callwright.contract.phone_numbers import Capabilities
from callwright.service.handlers import phone_numbers as number_handlers
from callwright.service.tables.schema import api_keys, organizations
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient, problem, raw_client, refused
from tests.support.resources import inbound, inbound_number, refusal
from tests.support.service import Tenant

ELSEWHERE = "+12125550177"
HOURS = BusinessHours(timezone="Europe/London", windows=[Window(days=["mon", "fri"], start="09:00", end="17:00")])


@pytest.mark.requirement("SERV-03", "PATH-08", "CONV-06", "INB-01", "INB-02", "INB-05")
async def test_an_inbound_deployment_is_active_at_once_and_has_nothing_of_a_campaign(tenant: Tenant) -> None:
    made = await inbound(tenant, metadata={"desk": "1"})
    assert made.id.startswith("dep_")
    assert (made.call_type, made.status, made.simulated, made.name) == ("inbound", "active", True, "Reception")
    assert (made.max_concurrency, made.metadata, made.phone_number_ids) == (10, {"desk": "1"}, [])
    assert made.started_at == made.created_at
    assert made.inbound is not None
    assert (made.inbound.business_hours, made.inbound.recording_enabled) == (None, True)
    assert (made.inbound.after_hours, made.inbound.overflow) == (AfterHours(), Overflow())
    assert (made.inbound.after_hours.action, made.inbound.overflow.action) == ("reject", "busy")
    foreign = made.model_dump(
        include={"audience_id", "agent_snapshot", "caller_id_strategy", "start_at", "end_at", "calling_hours"}
        | {"calls_per_second", "retry_policy", "voicemail", "ring_timeout_seconds", "max_call_duration_seconds"}
        | {"budget_cap", "compliance", "next_dial_at", "clock", "plan_id", "completed_at"}
    )
    assert len(foreign) == 17
    assert set(foreign.values()) == {None}
    assert (made.stats.contacts, made.stats.attempts) == (0, 0)
    assert await tenant.client.deployments.get(id=made.id) == made
    number = await tenant.client.phone_numbers.get(id=inbound_number(made))
    assert (number.inbound_deployment_id, number.outbound_deployment_ids) == (made.id, [])
    assert (await tenant.client.deployments.list_contacts(id=made.id)).data == []


async def test_everything_that_is_given_is_kept_and_a_number_is_kept_in_e164(tenant: Tenant) -> None:
    made = await inbound(
        tenant,
        business_hours=HOURS,
        after_hours=AfterHours(action="forward", forward_to="+1 (212) 555-0177"),
        overflow=Overflow(action="queue"),
        max_concurrency=3,
        recording_enabled=False,
    )
    assert made.inbound is not None
    assert (made.inbound.business_hours, made.max_concurrency, made.inbound.recording_enabled) == (HOURS, 3, False)
    assert made.inbound.after_hours == AfterHours(action="forward", forward_to=ELSEWHERE)
    assert made.inbound.overflow == Overflow(action="queue")
    assert await tenant.client.deployments.get(id=made.id) == made


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("name", "", "name"),
        ("business_hours", {"timezone": "Mars/Base", "windows": []}, "business_hours.timezone"),
        ("after_hours", {"action": "forward"}, "after_hours"),
        ("after_hours", {"forward_to": ELSEWHERE}, "after_hours"),
        ("after_hours", {"action": "forward", "forward_to": "2125550177"}, "after_hours.forward_to"),
        ("after_hours", {"action": "forward", "forward_to": "+1900555012"}, "after_hours.forward_to"),
        ("overflow", {"action": "forward", "forward_to": "+19005550123"}, "overflow.forward_to"),
        ("overflow", {"action": "reject"}, "overflow.action"),
        ("max_concurrency", 0, "max_concurrency"),
        ("recording_enabled", "maybe", "recording_enabled"),
        ("audience_id", "aud_1", "audience_id"),
        ("phone_number_ids", ["num_1"], "phone_number_ids"),
        ("call_type", "inbound", "call_type"),
        ("start_at", "2030-01-01T00:00:00Z", "start_at"),
        ("retry_policy", {}, "retry_policy"),
    ],
)
@pytest.mark.requirement("INB-01")
async def test_a_bad_field_is_refused_by_name(
    tenant: Tenant, http: AsyncClient, field: str, value: object, named: str
) -> None:
    agent, number = await resources.agent(tenant), await resources.number(tenant)
    body = {"name": "In", "agent_id": agent.id, "phone_number_id": number.id, field: value}
    refused(await http.post("/v1/deployments/inbound", json=body), 400, "invalid_field", named)
    assert (await tenant.client.deployments.list()).data == []
    assert (await tenant.client.phone_numbers.get(id=number.id)).inbound_deployment_id is None


@pytest.mark.requirement("INB-01")
async def test_what_is_missing_is_named(http: AsyncClient) -> None:
    answer = await http.post("/v1/deployments/inbound", json={})
    refused(answer, 400, "missing_field", "name")
    assert [entry["field"] for entry in problem(answer)["errors"]] == ["name", "agent_id", "phone_number_id"]


async def test_callers_are_not_forwarded_to_the_number_they_call(tenant: Tenant) -> None:
    agent, number = await resources.agent(tenant), await resources.number(tenant)
    async with refusal(400, "invalid_field", "overflow.forward_to"):
        await tenant.client.deployments.create_inbound(
            name="In",
            agent_id=agent.id,
            phone_number_id=number.id,
            overflow=Overflow(action="forward", forward_to=number.number),
        )


@pytest.mark.requirement("INB-03", "ERR-61")
async def test_a_number_answers_for_one_deployment_until_that_is_cancelled(tenant: Tenant) -> None:
    first = await inbound(tenant)
    given: dict[str, Any] = {"agent_id": first.agent_id, "phone_number_id": inbound_number(first)}
    for _ in range(2):
        async with refusal(409, "phone_number_already_bound", "phone_number_id") as kept:
            await tenant.client.deployments.create_inbound(name="Second", **given)
        assert kept[0].details == {"bound_to": first.id}
        await tenant.client.deployments.pause(id=first.id)  # which does not free it
    await tenant.client.deployments.cancel(id=first.id)
    second = await tenant.client.deployments.create_inbound(name="Second", **given)
    number = await tenant.client.phone_numbers.get(id=inbound_number(first))
    assert number.inbound_deployment_id == second.id
    await tenant.client.deployments.cancel(id=first.id)  # again: it takes nothing from the second
    assert (await tenant.client.phone_numbers.get(id=number.id)).inbound_deployment_id == second.id


@pytest.mark.requirement("INB-04", "ERR-70")
async def test_a_number_that_is_not_active_or_cannot_be_called_is_refused(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, given, active = (
        await resources.agent(tenant),
        await resources.number(tenant),
        await resources.number(tenant),
    )
    released = await tenant.client.phone_numbers.release(id=given.id)
    create = tenant.client.deployments.create_inbound
    async with refusal(422, "number_not_capable", "phone_number_id") as kept:
        await create(name="In", agent_id=agent.id, phone_number_id=released.id)
    assert "released" in kept[0].message
    deaf = Capabilities(voice_inbound=False, voice_outbound=True, sms=False)
    monkeypatch.setattr(number_handlers, "SIMULATED", deaf)
    async with refusal(422, "number_not_capable", "phone_number_id"):
        await create(name="In", agent_id=agent.id, phone_number_id=active.id)
    assert (await tenant.client.deployments.list()).data == []


@pytest.mark.requirement("INB-02", "ERR-62")
async def test_what_an_inbound_deployment_uses_cannot_be_taken_away(tenant: Tenant) -> None:
    made = await inbound(tenant)
    async with refusal(409, "agent_in_use") as kept:
        await tenant.client.agents.delete(id=made.agent_id)
    assert kept[0].details == {"used_by": made.id}
    async with refusal(409, "phone_number_in_use") as kept:
        await tenant.client.phone_numbers.release(id=inbound_number(made))
    assert kept[0].details == {"used_by": [made.id]}
    await tenant.client.deployments.cancel(id=made.id)
    await tenant.client.agents.delete(id=made.agent_id)
    assert (await tenant.client.phone_numbers.release(id=inbound_number(made))).status == "released"
    assert (await tenant.client.deployments.get(id=made.id)).inbound == made.inbound


async def test_a_number_that_calls_and_answers_is_kept_by_both(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    made = await inbound(tenant, phone_number_id=campaign.number.id)
    async with refusal(409, "phone_number_in_use") as kept:
        await tenant.client.phone_numbers.release(id=campaign.number.id)
    assert kept[0].details == {"used_by": [campaign.deployment.id, made.id]}


async def test_a_name_is_unique_among_deployments_of_both_kinds(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant, "Taken")
    async with refusal(409, "duplicate_name", "name"):
        await inbound(tenant, "Taken", agent_id=campaign.agent.id)
    made = await inbound(tenant)
    async with refusal(409, "duplicate_name", "name"):
        await tenant.client.deployments.update(id=campaign.deployment.id, name=made.name)


@pytest.mark.service(plan="starter")
async def test_the_plan_bounds_the_calls_at_a_time_of_an_inbound_deployment(tenant: Tenant) -> None:
    made = await inbound(tenant)
    async with refusal(422, "plan_limit_reached", "max_concurrency"):
        await inbound(tenant, "Larger", max_concurrency=11)
    async with refusal(422, "plan_limit_reached", "max_concurrency"):
        await tenant.client.deployments.update(id=made.id, max_concurrency=11)


@pytest.mark.service(extra_dollars=100)
async def test_inbound_deployments_do_not_count_towards_the_plan_and_are_not_bound_by_it(tenant: Tenant) -> None:
    for index in range(6):
        await inbound(tenant, f"In {index}")
    campaigns = [(await resources.draft(tenant, f"Out {index}")).deployment for index in range(6)]
    starter = update(organizations).where(organizations.c.id == tenant.org_id).values(plan="starter")
    await tenant.database.write(lambda connection: connection.execute(starter).rowcount)
    for campaign in campaigns[:5]:
        assert (await tenant.client.deployments.start(id=campaign.id)).status == "active"
    async with refusal(422, "plan_limit_reached") as kept:
        await tenant.client.deployments.start(id=campaigns[5].id)
    assert kept[0].details == {"limit": 5, "current": 5}
    assert (await inbound(tenant, "One more")).status == "active"


async def test_a_key_with_a_spending_cap_lets_no_callers_in(tenant: Tenant) -> None:
    made, agent, number = await inbound(tenant), await resources.agent(tenant), await resources.number(tenant)
    await tenant.client.deployments.pause(id=made.id)
    capped = update(api_keys).where(api_keys.c.org_id == tenant.org_id).values(spending_cap_micros=100 * MICROS)
    await tenant.database.write(lambda connection: connection.execute(capped).rowcount)
    async with refusal(422, "spending_cap_reached"):
        await tenant.client.deployments.create_inbound(name="In", agent_id=agent.id, phone_number_id=number.id)
    async with refusal(422, "spending_cap_reached"):
        await tenant.client.deployments.resume(id=made.id)
    assert (await tenant.client.deployments.cancel(id=made.id)).status == "cancelled"


async def test_the_same_idempotency_key_binds_once(tenant: Tenant) -> None:
    agent, number = await resources.agent(tenant), await resources.number(tenant)
    body = {"name": "In", "agent_id": agent.id, "phone_number_id": number.id}
    async with raw_client(tenant, Idempotency_Key="bind-1") as http:
        answers = [await http.post("/v1/deployments/inbound", json=body) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].content == answers[1].content
    found = await tenant.client.deployments.list(idempotency_key="bind-1")
    assert [entry.id for entry in found.data] == [answers[0].json()["data"]["id"]]


@pytest.mark.requirement("FILTER-02", "FILTER-03")
async def test_deployments_are_found_by_kind(tenant: Tenant, http: AsyncClient) -> None:
    out, made = (await resources.draft(tenant, "Out")).deployment, await inbound(tenant)
    for kinds, expected in (("inbound", {made.id}), ("outbound", {out.id}), ("outbound,inbound", {out.id, made.id})):
        found = (await http.get(f"/v1/deployments?filter[call_type]={kinds}")).json()["data"]
        assert {entry["id"] for entry in found} == expected
    assert [entry.id for entry in (await tenant.client.deployments.list(call_type=["inbound"])).data] == [made.id]
    assert len((await tenant.client.deployments.list()).data) == 2
    refused(await http.get("/v1/deployments?filter[call_type]=both"), 400, "invalid_field", "filter[call_type]")
    campaign = (await http.get(f"/v1/deployments/{out.id}")).json()["data"]
    assert (campaign["call_type"], campaign["inbound"], campaign["audience_id"]) == ("outbound", None, out.audience_id)


async def test_changes_reach_what_is_kept(tenant: Tenant) -> None:
    made = await inbound(tenant, business_hours=HOURS, overflow=Overflow(action="queue"))
    away = AfterHours(action="voicemail")
    changed = await tenant.client.deployments.update(
        id=made.id, name="Desk", max_concurrency=2, metadata={"a": "b"}, inbound=InboundChanges(after_hours=away)
    )
    assert (changed.name, changed.max_concurrency, changed.metadata) == ("Desk", 2, {"a": "b"})
    assert made.inbound is not None
    assert changed.inbound == made.inbound.model_copy(update={"after_hours": away})
    always = InboundChanges(business_hours=None, recording_enabled=False)
    changed = await tenant.client.deployments.update(id=made.id, inbound=always)
    assert changed.inbound is not None
    assert (changed.inbound.business_hours, changed.inbound.recording_enabled) == (None, False)
    assert (changed.inbound.after_hours, changed.inbound.overflow.action) == (away, "queue")
    assert inbound_number(changed) == inbound_number(made)


@pytest.mark.requirement("INB-07")
async def test_a_change_may_be_named_as_a_deployment_was_made_or_as_it_is_shown(
    tenant: Tenant, http: AsyncClient
) -> None:
    made = await inbound(tenant, business_hours=HOURS)
    path = f"/v1/deployments/{made.id}"
    shown = (await http.get(path)).json()["data"]["inbound"]
    overflow, away = {"action": "forward", "forward_to": "+12125550177"}, {"action": "voicemail"}
    flat = {"business_hours": None, "after_hours": away, "overflow": overflow, "recording_enabled": False}
    for body in ({"inbound": {**shown, **flat}}, flat):
        assert (await http.patch(path, json={"inbound": shown})).json()["data"]["inbound"] == shown
        changed = (await http.patch(path, json=body)).json()["data"]["inbound"]
        assert changed["business_hours"] is None
        assert (changed["after_hours"]["action"], changed["overflow"]) == ("voicemail", overflow)
        assert (changed["recording_enabled"], changed["phone_number_id"]) == (False, shown["phone_number_id"])
    before = (await http.get(path)).json()["data"]
    twice = {"recording_enabled": True, "inbound": {"recording_enabled": False}}
    refused(await http.patch(path, json=twice), 400, "invalid_field", "recording_enabled")
    wrong = {"overflow": {"action": "forward", "forward_to": "+1"}}
    refused(await http.patch(path, json=wrong), 400, "invalid_field", "overflow.forward_to")
    assert (await http.patch(path, json={"inbound": {}})).json()["data"]["inbound"] == before["inbound"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"audience_id": "aud_1"}, "audience_id"),
        ({"calls_per_second": 1}, "calls_per_second"),
        ({"name": "New", "budget_cap": {"amount": "1"}}, "budget_cap"),
        ({"calling_hours": {"windows": [{"days": ["mon"], "start": "09:00", "end": "17:00"}]}}, "calling_hours"),
        ({"end_at": "2040-01-01T00:00:00Z"}, "end_at"),
        ({"inbound": None}, "inbound"),
        ({"inbound": {"after_hours": None}}, "inbound.after_hours"),
        ({"inbound": {"recording_enabled": None}}, "inbound.recording_enabled"),
        ({"inbound": {"phone_number_id": "num_1"}}, "inbound.phone_number_id"),
        ({"inbound": {"overflow": {"action": "forward", "forward_to": "+1"}}}, "inbound.overflow.forward_to"),
    ],
)
async def test_a_change_that_does_not_fit_an_inbound_deployment_is_refused_by_name(
    tenant: Tenant, http: AsyncClient, body: dict[str, Any], named: str
) -> None:
    made = await inbound(tenant)
    refused(await http.patch(f"/v1/deployments/{made.id}", json=body), 400, "invalid_field", named)
    assert await tenant.client.deployments.get(id=made.id) == made


async def test_a_campaign_does_not_have_what_an_inbound_deployment_has(tenant: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment
    async with refusal(400, "invalid_field", "inbound"):
        await tenant.client.deployments.update(id=made.id, inbound=InboundChanges(recording_enabled=False))
