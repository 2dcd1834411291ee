"""Providers for an assistant: it sees them, gives them to agents and removes them, and never meets a key."""

import json

from tests.support.mcp.over_http import Served
from tests.support.processes.programs import Assistant, text_of

KEY = "sk-thisIsTheKeyOfTheTests-9f3a"
AGENT = {"name": "Ada", "language": "en-US", "system_prompt": "Say hello."}


async def set_both(served: Served) -> None:
    await served.tenant.client.providers.set(name="ears", kind="deepgram", key=KEY)
    await served.tenant.client.providers.set(name="ours", kind="openai", key=KEY, default_for=["hearing"])


async def test_no_tool_takes_a_key_and_the_list_says_how_a_person_sets_one(served: Served, hand: Assistant) -> None:
    names = {tool.name for tool in (await hand.client.list_tools()).tools}
    assert {"list_providers", "remove_provider"} <= names
    assert "set_provider" not in names
    assert "callwright providers set" in text_of(await hand.result("list_providers"))
    assert "set_provider" in text_of(await hand.result("set_provider", name="ours", kind="openai", key=KEY))
    assert (await served.tenant.client.providers.list()).data == []


async def test_the_list_has_everything_but_the_key(served: Served, hand: Assistant) -> None:
    await set_both(served)
    found = await hand.result("list_providers")
    named = await hand.result("list_providers", fields=["name", "has_key", "key_ends_with", "default_for"])
    shown = "".join(f"{text_of(one)} {json.dumps(one.structured_content)}" for one in (found, named))
    assert "ours  openai  hearing, thinking, speaking  default for hearing  key …9f3a" in shown
    assert KEY not in shown
    assert KEY[:-4] not in shown


async def test_an_agent_is_given_providers_and_shows_them(served: Served, hand: Assistant) -> None:
    await set_both(served)
    chosen = {"speech": {"hearing": "ears", "voice": "nova"}, "model": {"provider": "ours", "model": "gpt-4.1"}}
    made = await hand.result("create_agent", **AGENT, **chosen)
    assert "on live calls: hearing ears; speaking voice nova; thinking ours  model gpt-4.1" in text_of(made)
    assert made.structured_content is not None
    agent_id = made.structured_content["id"]
    seen = await hand.use("get_agent", agent_id=agent_id)
    assert (seen["speech"], seen["model"]) == (chosen["speech"], chosen["model"])
    changed = await hand.use("update_agent", agent_id=agent_id, speech=None)
    assert "speech" not in changed
    assert changed["model"] == chosen["model"]


async def test_a_wrong_provider_is_answered_with_those_there_are(served: Served, hand: Assistant) -> None:
    await set_both(served)
    words = await hand.refused("create_agent", **AGENT, speech={"hearing": "nobody"})
    assert "speech.hearing" in words
    assert "ears, ours" in words
    assert "speech.hear:" in await hand.refused("create_agent", **AGENT, speech={"hear": "ears"})


async def test_a_provider_that_is_used_is_not_removed(served: Served, hand: Assistant) -> None:
    await set_both(served)
    made = await hand.use("create_agent", **AGENT, model={"provider": "ours"})
    words = await hand.refused("remove_provider", name="ours")
    assert made["id"] in words
    assert "update_agent" in words
    await hand.use("update_agent", agent_id=made["id"], model=None)
    assert (await hand.use("remove_provider", name="ours")) == {"id": "ours", "deleted": True}
    assert [one.name for one in (await served.tenant.client.providers.list()).data] == ["ears"]


async def test_another_organization_sees_none(served: Served) -> None:
    await set_both(served)
    async with served.tenant.another_organization() as other:
        async with served.assistant(other.api_key) as theirs:
            assert (await theirs.use("list_providers"))["data"] == []
            assert "ears" not in await theirs.refused("create_agent", **AGENT, speech={"hearing": "ours"})
            await theirs.refused("remove_provider", name="ours")
    assert len((await served.tenant.client.providers.list()).data) == 2
