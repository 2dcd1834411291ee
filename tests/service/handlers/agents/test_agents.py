"""Agents over the typed client."""

from typing import Any

import pytest

from tests.support import resources
from tests.support.calls.prompts_with_facts import LANGUAGES_SPOKEN, Spoken
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal
from tests.support.service import Tenant

GOOD: dict[str, Any] = {"name": "Ada", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}


def _but(**fields: Any) -> dict[str, Any]:
    return {**GOOD, **fields}


@pytest.mark.requirement("CONV-05", "AGENT-10")
async def test_an_agent_is_made_with_its_defaults_and_read_back_the_same(tenant: Tenant) -> None:
    client = tenant.client
    made = await client.agents.create(**GOOD)
    assert made.id.startswith("agt_")
    assert (made.welcome_message, made.metadata, made.warnings, made.variables) == ("", {}, [], [])
    assert made.created_at == made.updated_at
    assert made.created_by_key_id is not None
    assert made.created_by_key_id.startswith("key_")
    assert await client.agents.get(id=made.id) == made
    full = await resources.agent(tenant, "Full", welcome_message="Hi {{ day }} {{first_name}}", metadata={"team": "a"})
    assert full.variables == ["day", "first_name"]
    assert full.metadata == {"team": "a"}


async def test_braces_that_would_be_spoken_are_a_warning(tenant: Tenant) -> None:
    made = await resources.agent(
        tenant, welcome_message="Hi {first_name}, {{last name|you}}!", system_prompt="Say {{x. {y} {z}"
    )
    assert made.variables == ["last name"]
    assert made.warnings == [
        "welcome_message: the braces around first_name are spoken as they are written; {{first_name}} inserts a column",
        "system_prompt: the braces around y are spoken as they are written, 2 more like it; {{y}} inserts a column",
    ]


@pytest.mark.requirement("RES-13")
async def test_a_voice_of_another_language_is_a_warning(tenant: Tenant) -> None:
    mixed = await tenant.client.agents.create(**_but(language="de-DE"))
    assert len(mixed.warnings) == 1
    near = await tenant.client.agents.create(**_but(name="British", language="en-GB"))
    assert near.warnings == []


async def test_a_language_in_which_the_simulated_network_has_no_rules_is_a_warning_that_says_what_it_cannot_do(
    tenant: Tenant,
) -> None:
    polish = await tenant.client.agents.create(**_but(voice_id="pl-PL-zofia", language="pl-PL"))
    (warning,) = [said for said in polish.warnings if "simulated network" in said]
    assert "tells no fact before it is asked" in warning
    assert warning.endswith("rules of their own: de, en, es, fr, hi, it, nl, pt")
    changed = await tenant.client.agents.update(id=polish.id, language="de-DE", voice_id="de-DE-jonas")
    assert changed.warnings == []


@pytest.mark.parametrize("spoken", LANGUAGES_SPOKEN.values(), ids=LANGUAGES_SPOKEN)
async def test_a_prompt_in_another_language_than_the_agents_is_a_warning(spoken: Spoken, tenant: Tenant) -> None:
    own = await resources.agent(tenant, "Own", language=spoken.language, system_prompt=spoken.stated)
    assert [said for said in own.warnings if "system_prompt" in said] == []
    other = "en-US" if spoken.language != "en-GB" else "de-DE"
    mixed = await resources.agent(tenant, "Mixed", language=other, system_prompt=spoken.stated)
    (warning,) = [said for said in mixed.warnings if "system_prompt" in said]
    assert warning.startswith(f"system_prompt seems to be in {spoken.language[:2]}, and the agent speaks {other}:")


@pytest.mark.requirement("AGENT-05", "AGENT-11", "RES-12", "CONV-33", "LIMIT-04", "ERR-37", "ERR-52", "ERR-22")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "x" * 201),
        ("name", None),
        ("name", ["Ada"]),
        ("voice_id", "nobody"),
        ("voice_id", ""),
        ("language", "english please"),
        ("language", "en-US\n"),
        ("system_prompt", ""),
        ("system_prompt", "x" * 32_769),
        ("system_prompt", "a\0b"),
        ("welcome_message", "x" * 2_001),
        ("welcome_message", None),
        ("metadata", {str(index): "" for index in range(51)}),
        ("metadata", {"": "x"}),
        ("metadata", {"k" * 41: "x"}),
        ("metadata.k", {"k": "x" * 501}),
        ("metadata", {"k\0": "x"}),
    ],
)
async def test_a_bad_field_is_refused_by_name_on_making_and_changing(
    tenant: Tenant, http: AsyncClient, field: str, value: object
) -> None:
    name = field.partition(".")[0]
    refused(await http.post("/v1/agents", json={**GOOD, name: value}), 400, "invalid_field", field)
    made = await tenant.client.agents.create(**GOOD)
    if value is not None:  # in a change null empties the field
        refused(await http.patch(f"/v1/agents/{made.id}", json={name: value}), 400, "invalid_field", field)
    assert await tenant.client.agents.get(id=made.id) == made


@pytest.mark.requirement("AGENT-09", "ERR-31")
async def test_each_required_field_is_named_when_it_is_missing(http: AsyncClient) -> None:
    for field in GOOD:
        body = {name: value for name, value in GOOD.items() if name != field}
        refused(await http.post("/v1/agents", json=body), 400, "missing_field", field)


@pytest.mark.requirement("AGENT-05", "CONV-33", "LIMIT-04")
async def test_values_at_their_limits_are_kept_unchanged(tenant: Tenant) -> None:
    metadata = {f"{index:040d}": "ü" * 500 for index in range(50)}
    made = await tenant.client.agents.create(
        name="ñ" * 200,
        voice_id="de-DE-anna",
        language="de",
        system_prompt="🙂" * 32_768,
        welcome_message="ß" * 2_000,
        metadata=metadata,
    )
    read = await tenant.client.agents.get(id=made.id)
    assert (read.name, read.system_prompt, read.welcome_message) == ("ñ" * 200, "🙂" * 32_768, "ß" * 2_000)
    assert read.metadata == metadata


@pytest.mark.requirement("CONV-20", "PATH-22")
async def test_a_change_touches_only_what_it_names(tenant: Tenant) -> None:
    made = await resources.agent(tenant, welcome_message="Hello", metadata={"a": "1"})
    changed = await tenant.client.agents.update(id=made.id, welcome_message="", metadata={"b": "2"})
    assert (changed.welcome_message, changed.metadata) == ("", {"b": "2"})
    assert changed.updated_at >= made.updated_at
    follows = {"welcome_message", "metadata", "updated_at", "revision", "version"}
    assert changed.model_dump(exclude=follows) == made.model_dump(exclude=follows)
    same = await tenant.client.agents.update(id=made.id)
    assert same.model_dump(exclude={"updated_at"}) == changed.model_dump(exclude={"updated_at"})


@pytest.mark.requirement("AGENT-12", "ERR-16", "ERR-60")
async def test_a_name_is_unique_and_may_be_kept_or_taken_over(tenant: Tenant, other: Tenant) -> None:
    first, second = await resources.agent(tenant, "First"), await resources.agent(tenant, "Second")
    async with refusal(409, "duplicate_name", "name"):
        await resources.agent(tenant, "First")
    async with refusal(409, "duplicate_name", "name"):
        await tenant.client.agents.update(id=second.id, name="First")
    assert (await tenant.client.agents.update(id=first.id, name="First")).name == "First"
    assert (await resources.agent(tenant, "first")).name == "first"
    assert (await resources.agent(other, "First")).name == "First"
    await tenant.client.agents.delete(id=first.id)
    assert (await tenant.client.agents.update(id=second.id, name="First")).name == "First"


@pytest.mark.requirement("PATH-22")
async def test_a_deleted_agent_is_gone(tenant: Tenant) -> None:
    made = await resources.agent(tenant)
    await tenant.client.agents.delete(id=made.id)
    async with refusal(404, "not_found"):
        await tenant.client.agents.get(id=made.id)
    async with refusal(404, "not_found"):
        await tenant.client.agents.update(id=made.id, name="Back")
    async with refusal(404, "not_found"):
        await tenant.client.agents.delete(id=made.id)


@pytest.mark.requirement("ERR-65")
async def test_an_agent_of_a_live_deployment_cannot_be_deleted(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    async with refusal(409, "agent_in_use") as kept:
        await tenant.client.agents.delete(id=campaign.agent.id)
    assert kept[0].details == {"used_by": campaign.deployment.id}
    await tenant.client.deployments.cancel(id=campaign.deployment.id)
    await tenant.client.agents.delete(id=campaign.agent.id)
    assert (await tenant.client.deployments.get(id=campaign.deployment.id)).agent_id == campaign.agent.id


@pytest.mark.requirement("FILTER-01", "FILTER-05", "FILTER-06", "FILTER-11")
async def test_agents_are_found_by_name_language_voice_and_moment(tenant: Tenant) -> None:
    made = [
        await resources.agent(tenant, "Ada"),
        await resources.agent(tenant, "Anna", voice_id="de-DE-anna", language="de-DE"),
        await resources.agent(tenant, "Ben", voice_id="en-US-ben"),
    ]
    agents = tenant.client.agents
    assert [entry.name async for entry in agents.list(sort="name")] == ["Ada", "Anna", "Ben"]
    assert [entry.name async for entry in agents.list(sort="-name")] == ["Ben", "Anna", "Ada"]
    assert [entry.name async for entry in agents.list(name="Anna")] == ["Anna"]
    assert [entry.name async for entry in agents.list(name="anna")] == []
    assert [entry.name async for entry in agents.list(language="en-US", sort="name")] == ["Ada", "Ben"]
    assert [entry.name async for entry in agents.list(voice_id="en-US-ben")] == ["Ben"]
    assert [entry.name async for entry in agents.list(language="en-US", voice_id="de-DE-anna")] == []
    assert [entry async for entry in agents.list(created_before=made[0].created_at)] == []
    assert len([entry async for entry in agents.list(created_from=made[0].created_at)]) == 3
