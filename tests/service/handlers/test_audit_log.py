"""Reading the audit log through the typed client on both engines: who did it, through what, and what it never holds."""

from typing import Any

import pytest

from callwright.contract.audit_log import AuditEntry
from callwright.service.platform.clock.clock import moment
from tests.support import resources
from tests.support.campaigns import draft, people, phone
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.service import Tenant
from tests.support.webhooks.sent_events import subscribe


async def entries(tenant: Tenant, **filters: Any) -> list[AuditEntry]:
    return [entry async for entry in tenant.client.audit_log.list(**filters)]


async def of_the_key(tenant: Tenant) -> list[AuditEntry]:
    """What was done through the key of the tests: not the making of the organization itself."""
    return [entry for entry in await entries(tenant) if entry.actor_id.startswith("key_")]


async def test_a_start_names_its_key_its_tool_and_its_plan(tenant: Tenant, http: AsyncClient) -> None:
    made = await draft(tenant, people(2))
    plan = await tenant.client.deployments.preview(id=made.id)
    path = f"/v1/deployments/{made.id}/start"
    answer = await http.post(path, json={"plan_id": plan.plan_id}, headers={"X-Callwright-Tool": "start_deployment"})
    assert answer.status_code == 200, answer.text
    (entry,) = await entries(tenant, action="start_deployment")
    assert (entry.subject_id, entry.tool, entry.actor_label) == (made.id, "start_deployment", "tests")
    assert entry.actor_id.startswith("key_")
    assert entry.request_id == answer.headers["x-request-id"]
    assert entry.changes["plan_id"] == {"before": None, "after": plan.plan_id}


async def test_each_filter_leaves_what_it_names(tenant: Tenant, http: AsyncClient) -> None:
    agent = await resources.agent(tenant)
    await tenant.client.agents.update(id=agent.id, name="Eve")
    body = {"name": "Zoe"}
    await http.patch(f"/v1/agents/{agent.id}", json=body, headers={"X-Callwright-Tool": "update_agent"})
    await resources.audience(tenant)
    every = await of_the_key(tenant)
    assert [entry.action for entry in every] == ["create_audience", "update_agent", "update_agent", "create_agent"]
    assert [entry.id for entry in await entries(tenant, action="update_agent")] == [entry.id for entry in every[1:3]]
    assert [entry.id for entry in await entries(tenant, subject_id=agent.id)] == [entry.id for entry in every[1:]]
    assert [entry.id for entry in await entries(tenant, tool="update_agent")] == [every[1].id]
    assert await entries(tenant, actor_id=every[0].actor_id) == every
    others = await entries(tenant, actor_id="operator")
    ids = {entry.id for entry in await entries(tenant)}
    assert {entry.id for entry in others} == ids - {entry.id for entry in every}
    assert {entry.actor_label for entry in others} == {""}
    both = await entries(tenant, action="update_agent", tool="start_deployment")
    assert both == []


async def test_the_log_is_read_by_time_and_page_by_page_each_entry_once(tenant: Tenant) -> None:
    made = [await resources.agent(tenant, f"Agent {index}") for index in range(7)]
    every = await entries(tenant)
    assert [entry.subject_id for entry in every[: len(made)]] == [agent.id for agent in reversed(made)]
    page = await tenant.client.audit_log.list(per_page=3)
    seen = list(page.data)
    assert page.pagination.total == len(every)
    await resources.agent(tenant, "Meanwhile")
    while page.pagination.next_cursor is not None:
        page = await tenant.client.audit_log.list(per_page=3, cursor=page.pagination.next_cursor)
        seen += page.data
    assert seen == every
    day_before = moment(int(every[0].created_at.timestamp() * 1_000) - 86_400_000)
    assert (await tenant.client.audit_log.list(created_before=day_before)).data == []
    assert len((await tenant.client.audit_log.list(created_from=day_before)).data) == len(every) + 1


async def test_no_entry_holds_a_secret_or_the_number_of_a_person(tenant: Tenant, http: AsyncClient) -> None:
    hook = await subscribe(tenant)
    secret = (await tenant.client.webhooks.rotate_secret(id=hook.id)).secret
    campaign = await draft(tenant, people(2))
    agent, number = campaign.agent_id, campaign.phone_number_ids[0]
    placed = await tenant.client.calls.place(
        agent_id=agent, phone_number_id=number, to=phone(50), variables={"first_name": "Marigold"}, auto_start=False
    )
    answer = await http.get("/v1/audit_log", params={"per_page": 200})
    assert answer.status_code == 200
    actions = {entry["action"] for entry in answer.json()["data"]}
    assert {"create_webhook", "rotate_webhook_secret", "create_audience", "place_call"} <= actions
    assert placed.id in answer.text
    assert secret
    for private in (secret, tenant.api_key, phone(0), phone(1), phone(50), phone(50).removeprefix("+"), "Marigold"):
        assert private not in answer.text, private


async def test_nobody_reads_the_log_of_another_organization(tenant: Tenant, other: Tenant) -> None:
    agent = await resources.agent(tenant)
    theirs = await resources.agent(other, "Theirs")
    (mine,) = await of_the_key(tenant)
    assert [entry.subject_id for entry in await of_the_key(other)] == [theirs.id]
    assert agent.id not in [entry.subject_id for entry in await entries(other)]
    assert await entries(other, subject_id=agent.id) == []
    assert await entries(other, actor_id=mine.actor_id) == []


@pytest.mark.parametrize(
    "query", [{"sort": "colour"}, {"filter[changes]": "x"}, {"filter[org_id]": "x"}, {"per_page": "0"}]
)
async def test_what_the_log_is_not_read_by_is_refused(tenant: Tenant, http: AsyncClient, query: dict[str, str]) -> None:
    answer = await http.get("/v1/audit_log", params=query)
    assert answer.status_code == 400
    refused(answer, 400, answer.json()["error"]["code"], answer.json()["error"]["field"])
