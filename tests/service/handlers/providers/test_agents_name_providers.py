"""Agents and the providers they name, and what a campaign keeps of that when it starts."""

from typing import Any

import pytest

from callwright.contract.agents.agents import Model, Speech
from tests.support import resources
from tests.support.resources import refusal
from tests.support.service import Tenant

KEY = "sk-thisIsTheKeyOfTheTests-9f3a"


async def set_both(tenant: Tenant) -> None:
    await tenant.client.providers.set(name="ears", kind="deepgram", key=KEY)
    await tenant.client.providers.set(name="ours", kind="openai", key=KEY)


async def test_an_agent_names_none_unless_it_is_told(tenant: Tenant) -> None:
    made = await resources.agent(tenant)
    assert (made.speech, made.model) == (None, None)


async def test_an_agent_has_what_it_was_given_until_null_empties_it(tenant: Tenant) -> None:
    await set_both(tenant)
    speech, model = Speech(hearing="ears", speaking="ours", voice="nova"), Model(provider="ours", model="gpt-4.1")
    made = await resources.agent(tenant, speech=speech, model=model)
    assert (made.speech, made.model) == (speech, model)
    agents = tenant.client.agents
    renamed = await agents.update(id=made.id, name="Other")
    assert (renamed.speech, renamed.model) == (speech, model)
    narrowed = await agents.update(id=made.id, speech=Speech(voice="alloy"))
    assert (narrowed.speech, narrowed.model) == (Speech(voice="alloy"), model)
    emptied = await agents.update(id=made.id, speech=None, model=None)
    assert (emptied.speech, emptied.model) == (None, None)
    assert await agents.get(id=made.id) == emptied


async def test_another_choice_is_another_revision(tenant: Tenant) -> None:
    """Somebody else hears, and somebody else is paid: a person who agreed has to see it."""
    await set_both(tenant)
    made = await resources.agent(tenant)
    chosen = await tenant.client.agents.update(id=made.id, model=Model(provider="ours"))
    emptied = await tenant.client.agents.update(id=made.id, model=None)
    assert made.revision != chosen.revision
    assert made.revision == emptied.revision


@pytest.mark.requirement("PROVIDER-06")
@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"speech": Speech(hearing="nobody")}, "speech.hearing", "there are ears, ours"),
        ({"speech": Speech(speaking="ears")}, "speech.speaking", "there are ours"),
        ({"model": Model(provider="ears")}, "model.provider", "is no provider for thinking: there are ours"),
    ],
)
async def test_a_provider_that_is_not_there_is_refused_with_those_that_are(
    tenant: Tenant, fields: dict[str, Any], field: str, words: str
) -> None:
    await set_both(tenant)
    async with refusal(400, "invalid_field", field) as found:
        await resources.agent(tenant, **fields)
    assert words in str(found[0])
    made = await resources.agent(tenant)
    async with refusal(400, "invalid_field", field):
        await tenant.client.agents.update(id=made.id, **fields)
    assert await tenant.client.agents.get(id=made.id) == made


@pytest.mark.requirement("PROVIDER-07")
async def test_a_campaign_keeps_the_choice_that_it_began_with(tenant: Tenant) -> None:
    await set_both(tenant)
    campaign = await resources.draft(tenant)
    speech = Speech(hearing="ears")
    agents, deployments = tenant.client.agents, tenant.client.deployments
    await agents.update(id=campaign.agent.id, speech=speech, model=Model(model="gpt-4.1"))
    await deployments.start(id=campaign.deployment.id)
    await agents.update(id=campaign.agent.id, speech=None, model=None)
    kept = (await deployments.get(id=campaign.deployment.id)).agent_snapshot
    assert kept is not None
    assert (kept.speech, kept.model) == (speech, Model(model="gpt-4.1"))


@pytest.mark.service(settings={"sim_time_scale": 1.0})
async def test_a_plan_that_was_agreed_to_is_stale_with_another_provider(tenant: Tenant) -> None:
    await set_both(tenant)
    campaign = await resources.draft(tenant)
    plan = await tenant.client.deployments.preview(id=campaign.deployment.id)
    await tenant.client.agents.update(id=campaign.agent.id, model=Model(provider="ours"))
    async with refusal(409, "plan_stale") as found:
        await tenant.client.deployments.start(id=campaign.deployment.id, plan_id=plan.plan_id)
    assert found[0].details["changed"] == ["agent"]
