"""Versions of agents: kept at each change of the words, listed, compared, brought back, and asked for by calls."""

import json
from random import Random
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from callwright.contract.agents.agents import Model, Speech
from callwright.service.tables.schema import agent_versions, api_keys, deployments
from tests.support import resources
from tests.support.calls.many_calls import put_many
from tests.support.calls.stored_calls import put_call, put_conversation
from tests.support.campaigns import calls_of, make_agent, people, run, started
from tests.support.database.statements import recorded
from tests.support.deployments.plans import make_real, plan_of
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal
from tests.support.service import Tenant
from tests.support.tasks import all_at_once

LONG = (
    "You call {{first_name}} for the clinic. Goal: the appointment is confirmed. Be brief and kind. "
    "Parking is behind the house. Never talk about the price. Say goodbye at the end."
)
TALK: dict[str, Any] = {"voice_id": "en-US-ada", "language": "en-US", "welcome_message": "Hello {{first_name}}."}


async def version_numbers(tenant: Tenant, agent_id: str) -> list[int]:
    """The numbers of an agent's versions, as they are listed."""
    return [found.version async for found in tenant.client.agents.list_versions(id=agent_id)]


@pytest.mark.requirement("VERSION-01", "VERSION-02")
async def test_a_change_of_the_words_makes_a_version_and_one_of_name_or_notes_does_not(tenant: Tenant) -> None:
    agents = tenant.client.agents
    made = await resources.agent(tenant, welcome_message="Hello")
    assert made.version == 1
    none: tuple[dict[str, Any], ...] = (
        *({"name": "Eve"}, {"metadata": {"team": "a"}}, {"language": "en-US"}),
        *({}, {"welcome_message": "Hello"}),
    )
    for changes in none:
        assert (await agents.update(id=made.id, **changes)).version == 1, changes
    changed = await agents.update(id=made.id, welcome_message="Good day", name="Ada again")
    assert (changed.version, (await agents.get(id=made.id)).version) == (2, 2)
    assert (await agents.update(id=made.id, voice_id="en-US-ben")).version == 3
    newest, second, first = (await agents.list_versions(id=made.id)).data
    assert [(each.version, each.changed) for each in (newest, second, first)] == [
        (3, ["voice_id"]),
        (2, ["welcome_message"]),
        (1, []),
    ]
    key = select(api_keys.c.id, api_keys.c.label).where(api_keys.c.org_id == tenant.org_id)
    by, label = await tenant.database.read(lambda connection: connection.execute(key).one())
    assert {(each.actor_id, each.agent_id, each.restored_from) for each in (newest, second, first)} == {
        (by, made.id, None)
    }
    assert {each.actor_label for each in (newest, second, first)} == {label}
    assert (first.welcome_message, second.welcome_message, newest.voice_id) == ("Hello", "Good day", "en-US-ben")
    assert first.created_at <= second.created_at <= newest.created_at


@pytest.mark.requirement("VERSION-01")
async def test_versions_are_listed_in_pages_the_newest_first(tenant: Tenant) -> None:
    made = await resources.agent(tenant)
    for number in range(6):
        await tenant.client.agents.update(id=made.id, welcome_message=f"Hello {number}")
    pages = [page async for page in tenant.client.agents.list_versions(id=made.id, per_page=3).pages()]
    assert [[each.version for each in page.data] for page in pages] == [[7, 6, 5], [4, 3, 2], [1]]
    assert [page.pagination.total for page in pages] == [7, 7, 7]
    assert [each.changed for each in pages[1].data] == [["welcome_message"]] * 3


@pytest.mark.requirement("VERSION-03")
async def test_changes_at_the_same_time_get_a_number_each_and_none_is_lost(tenant: Tenant) -> None:
    made = await resources.agent(tenant)
    words = iter(range(100))

    async def change() -> None:
        await tenant.client.agents.update(id=made.id, welcome_message=f"Hello {next(words)}")

    await all_at_once(12, change, within_s=30)
    assert await version_numbers(tenant, made.id) == list(range(13, 0, -1))
    found = (await tenant.client.agents.list_versions(id=made.id)).data
    assert {each.welcome_message for each in found} == {"", *(f"Hello {number}" for number in range(12))}
    assert (await tenant.client.agents.get(id=made.id)).welcome_message == found[0].welcome_message


@pytest.mark.requirement("VERSION-04")
async def test_two_versions_are_compared_field_by_field_and_texts_line_by_line(tenant: Tenant) -> None:
    agents = tenant.client.agents
    made = await agents.create(name="Ada", system_prompt=LONG, **TALK)
    await agents.update(
        id=made.id,
        system_prompt=LONG.replace("Be brief and kind.", "Be brief."),
        welcome_message="",
        voice_id="en-US-ben",
        model=None,
    )
    now = await agents.get(id=made.id, compare_to=1)
    assert now.differences is not None
    assert {(each.field, each.before, each.after) for each in now.differences if each.diff is None} == {
        ("voice_id", "en-US-ada", "en-US-ben"),
        ("welcome_message", "Hello {{first_name}}.", ""),
    }
    (said,) = [each for each in now.differences if each.diff is not None]
    assert (said.field, said.before, said.after) == ("system_prompt", None, None)
    assert (said.diff or "").splitlines() == [
        "  You call {{first_name}} for the clinic.",
        "  Goal: the appointment is confirmed.",
        "- Be brief and kind.",
        "+ Be brief.",
        "  Parking is behind the house.",
        "  Never talk about the price.",
        "…",
    ]
    then = await agents.get(id=made.id, version=1, compare_to=2)
    assert (then.version, then.voice_id, then.welcome_message) == (1, "en-US-ada", "Hello {{first_name}}.")
    assert then.variables == ["first_name"]
    assert any("- Be brief.\n+ Be brief and kind." in (each.diff or "") for each in then.differences or ())
    assert (await agents.get(id=made.id, version=2, compare_to=2)).differences == []
    assert (await agents.get(id=made.id)).differences is None


@pytest.mark.requirement("VERSION-04")
async def test_the_parts_of_a_choice_are_compared_one_by_one(tenant: Tenant) -> None:
    await tenant.client.providers.set(name="ours", kind="openai", key="sk-0123456789abcdef")
    made = await resources.agent(tenant)
    await tenant.client.agents.update(id=made.id, speech=Speech(hearing="ours"), model=Model(model="big"))
    (newest, _) = (await tenant.client.agents.list_versions(id=made.id)).data
    assert (newest.speech, newest.model, newest.changed) == (
        Speech(hearing="ours"),
        Model(model="big"),
        ["speech", "model"],
    )
    found = (await tenant.client.agents.get(id=made.id, compare_to=1)).differences or []
    assert {(each.field, each.before, each.after) for each in found} == {
        ("speech.hearing", None, "ours"),
        ("model.model", None, "big"),
    }


@pytest.mark.requirement("VERSION-05")
async def test_an_earlier_version_comes_back_as_a_new_one_and_nothing_is_overwritten(tenant: Tenant) -> None:
    agents = tenant.client.agents
    made = await agents.create(name="Ada", system_prompt=LONG, **TALK)
    await agents.update(id=made.id, system_prompt="Something else.", language="en-GB", metadata={"a": "1"})
    back = await agents.update(id=made.id, restore_version=1)
    assert (back.version, back.system_prompt, back.language, back.metadata) == (3, LONG, "en-US", {"a": "1"})
    newest, second, first = (await agents.list_versions(id=made.id)).data
    assert (newest.restored_from, second.restored_from, first.restored_from) == (1, None, None)
    assert (second.system_prompt, second.language) == ("Something else.", "en-GB")
    assert (await agents.update(id=made.id, restore_version=1)).version == 3  # it says that already
    mixed = await agents.update(id=made.id, restore_version=2, language="en-AU")
    assert (mixed.version, mixed.system_prompt, mixed.language) == (4, "Something else.", "en-AU")


@pytest.mark.requirement("VERSION-05")
async def test_a_version_whose_provider_is_gone_comes_back_once_another_is_named(tenant: Tenant) -> None:
    await tenant.client.providers.set(name="ours", kind="openai", key="sk-0123456789abcdef")
    made = await resources.agent(tenant, speech=Speech(hearing="ours"))
    await tenant.client.agents.update(id=made.id, speech=None, welcome_message="Hello")
    await tenant.client.providers.remove(name="ours")
    async with refusal(400, "invalid_field", "speech.hearing"):
        await tenant.client.agents.update(id=made.id, restore_version=1)
    back = await tenant.client.agents.update(id=made.id, restore_version=1, speech=None)
    assert (back.version, back.welcome_message, back.speech) == (3, "", None)


@pytest.mark.requirement("VERSION-06")
async def test_versions_that_are_not_there_or_are_anothers_are_refused(
    tenant: Tenant, other: Tenant, http: AsyncClient
) -> None:
    made, foreign = await resources.agent(tenant), await resources.agent(other)
    await other.client.agents.update(id=foreign.id, welcome_message="Hello")
    for given, field in (({"version": 2}, "version"), ({"compare_to": 9}, "compare_to")):
        async with refusal(404, "not_found", field):
            await tenant.client.agents.get(id=made.id, **given)
    async with refusal(404, "not_found", "restore_version") as said:
        await tenant.client.agents.update(id=made.id, restore_version=2)
    assert said[0].message == "the agent has no version 2; it has version 1 alone"
    twice = await resources.agent(tenant, "Twice")
    await tenant.client.agents.update(id=twice.id, welcome_message="Hello again")
    async with refusal(404, "not_found", "compare_to") as said:
        await tenant.client.agents.get(id=twice.id, compare_to=99)
    assert said[0].message == "the agent has no version 99; it has 1 to 2"
    async with refusal(404, "not_found"):
        await tenant.client.agents.list_versions(id=foreign.id)
    async with refusal(404, "not_found"):
        await tenant.client.agents.get(id=foreign.id, version=1)
    async with refusal(404, "not_found"):
        await tenant.client.agents.update(id=foreign.id, restore_version=1)
    assert await version_numbers(tenant, made.id) == [1]
    for value in ("0", "-1", "x", "99999999999"):
        refused(await http.get(f"/v1/agents/{made.id}", params={"version": value}), 400, "invalid_field", "version")
    answer = await http.patch(f"/v1/agents/{made.id}", json={"restore_version": None})
    refused(answer, 400, "invalid_field", "restore_version")


@pytest.mark.requirement("VERSION-06")
async def test_a_deleted_agent_leaves_no_versions_and_calls_keep_their_number(tenant: Tenant) -> None:
    made = await resources.agent(tenant)
    await tenant.client.agents.update(id=made.id, welcome_message="Hello")
    call_id = await put_call(tenant, agent_id=made.id, agent_version=2)
    await tenant.client.agents.delete(id=made.id)
    left = select(func.count()).select_from(agent_versions)
    assert await tenant.database.read(lambda connection: connection.execute(left).scalar_one()) == 0
    assert (await tenant.client.calls.get(call_uuid=call_id)).agent_version == 2


@pytest.mark.requirement("VERSION-07")
@pytest.mark.service(workers=True)
async def test_a_campaign_and_its_calls_keep_the_version_it_started_with(tenant: Tenant) -> None:
    agent = await make_agent(tenant)
    await tenant.client.agents.update(id=agent.id, system_prompt=LONG)
    done = await run(tenant, people(2), agent_id=agent.id)
    await tenant.client.agents.update(id=agent.id, system_prompt="Something else. Goal: a yes.")
    after = await run(tenant, people(1, first=5), "Later", agent_id=agent.id)
    kept = await tenant.client.deployments.get(id=done.id)
    assert (kept.agent_version, after.agent_version) == (2, 3)
    assert kept.agent_snapshot is not None
    assert kept.agent_snapshot.system_prompt == LONG
    assert {call.agent_version for call in await calls_of(tenant, done.id)} == {2}
    assert {call.agent_version for call in await calls_of(tenant, after.id)} == {3}


@pytest.mark.requirement("VERSION-07")
async def test_a_draft_has_no_version_and_a_running_campaign_keeps_its_own(tenant: Tenant) -> None:
    agent = await make_agent(tenant)
    campaign = await resources.draft(tenant)
    assert campaign.deployment.agent_version is None
    begun = await started(tenant, people(1), agent_id=agent.id)
    await tenant.client.agents.update(id=agent.id, welcome_message="Good day")
    assert (await tenant.client.deployments.get(id=begun.id)).agent_version == 1


@pytest.mark.requirement("VERSION-08")
async def test_a_plan_of_before_a_change_does_not_hold_even_if_the_words_were_brought_back(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    await make_real(tenant, campaign.deployment.id)
    plan = await plan_of(tenant, campaign.deployment.id)
    await tenant.client.agents.update(id=campaign.agent.id, welcome_message="Hi")
    async with refusal(409, "plan_stale"):
        await tenant.client.deployments.start(id=campaign.deployment.id, plan_id=plan)
    await tenant.client.agents.update(id=campaign.agent.id, restore_version=1)
    async with refusal(409, "plan_stale") as problems:
        await tenant.client.deployments.start(id=campaign.deployment.id, plan_id=plan)
    assert problems[0].details["changed"] == ["agent"]


@pytest.mark.requirement("VERSION-08")
async def test_a_plan_of_before_versions_holds_for_the_first_one(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    start = await tenant.client.deployments.start(id=campaign.deployment.id)
    await tenant.client.deployments.pause(id=start.id)
    plan = await plan_of(tenant, start.id)
    row = select(deployments.c.agent_snapshot).where(deployments.c.id == start.id)
    kept = json.loads(await tenant.database.read(lambda connection: connection.execute(row).scalar_one()))
    assert kept.pop("version") == 1
    older = update(deployments).where(deployments.c.id == start.id).values(agent_snapshot=json.dumps(kept))
    await tenant.database.write(lambda connection: connection.execute(older).rowcount)
    resumed = await tenant.client.deployments.resume(id=start.id, plan_id=plan)
    assert (resumed.status, resumed.agent_version) == ("active", None)


@pytest.mark.requirement("VERSION-09")
async def test_calls_figures_and_searches_are_asked_by_version(tenant: Tenant) -> None:
    made = await resources.agent(tenant)
    said = ("contact", "That is too expensive.")
    own: dict[str, Any] = {"agent_id": made.id}
    first, second = [await put_conversation(tenant, said, agent_version=number, **own) for number in (1, 2)]
    before, another = await put_conversation(tenant, said, **own), await put_conversation(tenant, said, agent_version=2)
    asked: dict[str, Any] = {"agent_id": made.id, "agent_version": 2}
    assert [call.id for call in (await tenant.client.calls.list(**asked)).data] == [second]
    found = (await tenant.client.transcripts.search(query="expensive", **asked)).data
    assert [match.call_id for match in found] == [second]
    read = await tenant.client.calls.read_conversations(**asked)
    assert [one.call_id for one in read.conversations] == [second]
    assert (await tenant.client.calls.stats(**asked)).calls == 1
    every = (await tenant.client.transcripts.search(query="expensive")).data
    assert {match.call_id for match in every} == {first, second, before, another}
    groups = (await tenant.client.calls.stats(group_by=["agent_version"])).groups
    assert {(group.key["agent_id"], group.key.get("agent_version"), group.calls) for group in groups} == {
        (made.id, "1", 1),
        (made.id, "2", 1),
        (made.id, None, 1),
        ("agt_1", "2", 1),
    }


@pytest.mark.requirement("VERSION-09")
async def test_a_version_is_asked_for_with_its_one_agent(tenant: Tenant) -> None:
    ask: Any
    calls, search = tenant.client.calls, tenant.client.transcripts.search
    for ask, more in ((calls.list, {}), (calls.stats, {}), (calls.read_conversations, {}), (search, {"query": "a"})):
        for agents in (None, ["agt_1", "agt_2"]):
            async with refusal(400, "invalid_field", "agent_version") as problems:
                await ask(agent_version=1, agent_id=agents, **more)
            assert "agent_id" in problems[0].message


@pytest.mark.requirement("VERSION-10")
@pytest.mark.parametrize("sort", [None, "created_at"])
async def test_an_index_leads_to_the_calls_of_a_version(tenant: Tenant, sort: str | None) -> None:
    await put_many(tenant, 2_000, Random(6), agent_version=1)
    await put_many(tenant, 600, Random(7), agent_version=2, deployment_id="dep_2")
    await put_many(tenant, 600, Random(8), deployment_id="dep_3")
    if tenant.database.is_shared:
        await tenant.database.write(lambda connection: connection.execute(text("ANALYZE calls")))
    asked: dict[str, Any] = {"agent_id": "agt_1", "agent_version": 2, "per_page": 20, "sort": sort}
    first = await tenant.client.calls.list(**asked)
    with recorded() as statements:
        await tenant.client.calls.list(cursor=first.pagination.next_cursor, **asked)
    (read,) = [each for each in statements if "FROM calls" in each.text and "count(" not in each.text]
    plan = await tenant.database.read(read.plan)
    assert "ix_calls_version" in plan
    assert "USE TEMP B-TREE FOR ORDER BY" not in plan
    assert "Sort" not in plan
    with recorded() as statements:
        await tenant.client.calls.list(agent_id="agt_1", per_page=20)
    (read,) = [each for each in statements if "FROM calls" in each.text and "count(" not in each.text]
    assert "ix_calls_created" not in await tenant.database.read(read.plan)  # it would lead past calls of other agents


@pytest.mark.requirement("VERSION-11")
async def test_the_audit_log_has_what_a_restored_version_changed(tenant: Tenant) -> None:
    made = await resources.agent(tenant, welcome_message="Hello")
    await tenant.client.agents.update(id=made.id, welcome_message="Good day")
    await tenant.client.agents.update(id=made.id, restore_version=1)
    newest = (await tenant.client.audit_log.list(subject_id=made.id, action="update_agent")).data[0]
    assert newest.changes == {"welcome_message": {"before": "Good day", "after": "Hello"}}
    version = (await tenant.client.agents.list_versions(id=made.id)).data[0]
    assert (version.actor_id, version.user_id, version.restored_from) == (newest.actor_id, newest.user_id, 1)
