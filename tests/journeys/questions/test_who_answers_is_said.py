"""Before an agent answers a number, the person reads when, and where other callers are forwarded: all of it."""

from typing import Any

import pytest

from callwright.contract.deployments.inbound import AfterHours, BusinessHours, Overflow
from tests.journeys.hosts import Host
from tests.support.campaigns import make_agent, rent
from tests.support.service import Tenant

asked_or_told = pytest.mark.parametrize("answer", ["accept", None])
HOURS: dict[str, Any] = {
    "timezone": "Europe/Berlin",
    "windows": [{"days": ["mon", "tue"], "start": "09:00", "end": "17:00"}],
}
OTHER_HOURS = {**HOURS, "windows": [{"days": ["mon"], "start": "09:00", "end": "09:01"}]}
SETTINGS: dict[str, Any] = {
    "business_hours": HOURS,
    "after_hours": {"action": "forward", "forward_to": "+442079460958"},
    "overflow": {"action": "forward", "forward_to": "+33612345678"},
    "max_concurrency": 3,
    "recording_enabled": False,
}
BY_TOOL = ("business_hours", "after_hours", "recording_enabled")
"""What the tool takes; the rest is set over REST."""
SAID = (
    ", at mon+tue 09:00-17:00 (Europe/Berlin), up to 3 calls at a time, not recorded. Who calls at another hour is "
    "forwarded to +442079460958. Who calls beyond that number is forwarded to +33612345678. Every call costs money, "
)
SAID_BY_TOOL = SAID.replace("up to 3", "up to 10").replace("is forwarded to +33612345678", "hears the busy tone")
CHANGED: dict[str, tuple[dict[str, Any], str]] = {
    "after_hours": ({"after_hours": {"action": "forward", "forward_to": "+33123456789"}}, "forwarded to +33123456789"),
    "no message": ({"after_hours": {"action": "voicemail"}}, "at another hour may leave a message."),
    "overflow": ({"overflow": {"action": "queue"}}, "beyond that number waits."),
    "hours": ({"business_hours": OTHER_HOURS}, "at mon 09:00-09:01 (Europe/Berlin)"),
    "any hour": ({"business_hours": None}, ", at any hour, "),
    "calls": ({"max_concurrency": 500}, "up to 500 calls at a time"),
    "recording": ({"recording_enabled": True}, ", recorded."),
}
"""Other settings, and how they read."""


async def desk_of(tenant: Tenant) -> dict[str, Any]:
    agent, number = await make_agent(tenant, "Anna"), await rent(tenant)
    return {"name": "Desk", "agent_id": agent.id, "phone_number_id": number.id, **_by_tool(SETTINGS)}


def _by_tool(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name in BY_TOOL}


def sentence_in(said: str) -> str:
    return said.split("«")[1].split("»")[0]


async def question(found: Host, tool: str, **arguments: Any) -> str:
    """What the person reads before nothing happens."""
    said = await found.refused(tool, **arguments)
    return found.person.asked[-1] if found.person.answer else sentence_in(said)


def typed(change: dict[str, Any]) -> dict[str, Any]:
    """A change as the typed client takes it."""
    kinds: dict[str, type[Any]] = {"business_hours": BusinessHours, "after_hours": AfterHours, "overflow": Overflow}
    return {
        name: kinds[name].model_validate(value) if name in kinds and value is not None else value
        for name, value in change.items()
    }


@pytest.mark.parametrize("answer", ["decline", None])
async def test_a_person_reads_at_which_hours_and_where_others_are_forwarded(tenant: Tenant, found: Host) -> None:
    desk = await desk_of(tenant)
    said = SAID.replace("up to 3 calls", "up to 10 calls").replace("is forwarded to +336", "hears the busy tone. +336")
    assert said.split(" +336")[0] in await question(found, "create_inbound_deployment", **desk)
    made = await tenant.client.deployments.create_inbound(**{**desk, **typed(SETTINGS)})
    await tenant.client.deployments.pause(id=made.id)
    assert SAID in await question(found, "resume_deployment", deployment_id=made.id)


@pytest.mark.parametrize("answer", [None])
async def test_other_settings_are_another_sentence_where_a_host_cannot_ask(tenant: Tenant, found: Host) -> None:
    desk = await desk_of(tenant)
    sentence = sentence_in(await found.refused("create_inbound_deployment", **desk))
    read = {sentence.split(" (Asked at")[0]}
    changed = [(change, words) for change, words in CHANGED.values() if _by_tool(change)]
    for change, words in changed:
        other = {**desk, **change}
        said = await found.refused("create_inbound_deployment", **other, person_agreed_to=sentence)
        assert "not what would happen" in said
        assert words in sentence_in(said)
        read.add(sentence_in(said).split(" (Asked at")[0])
    assert len(read) == len(changed) + 1


@pytest.mark.parametrize("changed", CHANGED)
async def test_settings_that_change_while_the_question_stands_are_told(
    changed: str, tenant: Tenant, found: Host
) -> None:
    change, words = CHANGED[changed]
    made = await tenant.client.deployments.create_inbound(**{**await desk_of(tenant), **typed(SETTINGS)})
    await tenant.client.deployments.pause(id=made.id)

    async def somebody_changes_it() -> None:
        await tenant.client.deployments.update(id=made.id, **typed(change))

    found.person.before_answer = somebody_changes_it
    said = await found.refused("resume_deployment", deployment_id=made.id)
    assert words in sentence_in(said)
    assert words not in found.person.asked[0]
    assert (await tenant.client.deployments.get(id=made.id)).status == "paused"


async def test_what_reads_the_same_and_is_another_one_is_named(tenant: Tenant, found: Host) -> None:
    desk = await desk_of(tenant)

    async def rewritten() -> None:
        await tenant.client.agents.update(id=desk["agent_id"], system_prompt="Sell gold to everybody.")

    found.person.before_answer = rewritten
    said = await found.refused("create_inbound_deployment", **desk)
    assert f"It reads the same, but another one by now is {desk['agent_id']}." in said
    assert "Now it would be" not in said


@pytest.mark.parametrize("answer", ["decline", None])
async def test_a_target_that_counts_only_once_there_are_hours_is_read_before_it_does(
    tenant: Tenant, found: Host
) -> None:
    at_any_hour: dict[str, Any] = {**await desk_of(tenant), "business_hours": None}
    asked = await question(found, "create_inbound_deployment", **at_any_hour)
    assert "outside of hours, once there are some, is forwarded to +442079460958." in asked
    settings: dict[str, Any] = {**at_any_hour, **typed(SETTINGS), "business_hours": None}
    made = await tenant.client.deployments.create_inbound(**settings)
    asked = await question(found, "update_deployment", deployment_id=made.id, inbound={"business_hours": OTHER_HOURS})
    assert (
        "It then answers at mon 09:00-09:01 (Europe/Berlin), up to 3 calls at a time, not recorded. Who calls at "
        "another hour is forwarded to +442079460958. Who calls beyond that number is forwarded to +33612345678."
    ) in asked
