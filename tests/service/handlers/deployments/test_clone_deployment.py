"""A copy of a campaign is a draft with the same settings, and nothing of what happened."""

from datetime import timedelta

import pytest

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.dialling import Compliance, RetryPolicy
from callwright.service.platform.clock.clock import moment
from tests.support.campaigns import draft, make_agent, make_audience, people, rent
from tests.support.resources import refusal
from tests.support.service import Tenant

SAME = {
    *("agent_id", "audience_id", "phone_number_ids", "caller_id_strategy", "calling_hours", "max_concurrency"),
    *("calls_per_second", "retry_policy", "voicemail", "ring_timeout_seconds", "max_call_duration_seconds"),
    *("budget_cap", "compliance", "metadata", "simulated", "call_type"),
}


@pytest.mark.requirement("RES-25")
@pytest.mark.service(workers=True)
async def test_a_copy_of_a_campaign_that_is_over_is_a_draft_with_its_settings(tenant: Tenant) -> None:
    client = tenant.client.deployments
    made = await draft(
        tenant,
        people(3),
        end_at=moment(tenant.services.clock.now_ms()) + timedelta(days=3),
        budget_cap=Spend(amount="5"),
        retry_policy=RetryPolicy(max_attempts=1),
        compliance=Compliance(purpose="survey"),
        ring_timeout_seconds=20,
        metadata={"team": "north"},
    )
    await client.start(id=made.id)
    ended = await tenant.ended(made.id)
    copy = await client.clone(id=made.id, name="Again")
    assert {name: getattr(copy, name) for name in SAME} == {name: getattr(ended, name) for name in SAME}
    assert (copy.name, copy.status, copy.start_at, copy.end_at) == ("Again", "draft", None, None)
    assert (copy.stats.contacts, copy.stats.attempts, copy.stats.spend.amount) == (0, 0, "0.000000")
    assert (copy.agent_snapshot, copy.started_at, copy.plan_id, copy.clock) == (None, None, None, None)
    assert await client.get(id=made.id) == ended
    await client.start(id=copy.id)
    assert (await tenant.ended(copy.id)).status == "completed"


async def test_a_copy_takes_another_agent_audience_or_number(tenant: Tenant) -> None:
    made = await draft(tenant, people(1))
    agent, number = await make_agent(tenant, "Ben"), await rent(tenant)
    audience = await make_audience(tenant, people(2), "Others")
    copy = await tenant.client.deployments.clone(
        id=made.id, name="Others", agent_id=agent.id, audience_id=audience.id, phone_number_ids=[number.id]
    )
    assert (copy.agent_id, copy.audience_id, copy.phone_number_ids) == (agent.id, audience.id, [number.id])


async def test_a_copy_is_refused_by_the_name_of_what_is_wrong(other: Tenant, tenant: Tenant) -> None:
    made = await draft(tenant, people(1))
    client = tenant.client.deployments
    async with refusal(409, "duplicate_name", "name"):
        await client.clone(id=made.id, name=made.name)
    async with refusal(404, "not_found", "audience_id"):
        await client.clone(id=made.id, name="Copy", audience_id="aud_000000000000000000000000")
    async with refusal(404, "not_found"):
        await client.clone(id="dep_000000000000000000000000", name="Copy")
    desk = await client.create_inbound(name="Desk", agent_id=made.agent_id, phone_number_id=(await rent(tenant)).id)
    async with refusal(400, "invalid_field", "id"):
        await client.clone(id=desk.id, name="Copy")
    async with refusal(404, "not_found"):
        await other.client.deployments.clone(id=made.id, name="Copy")
