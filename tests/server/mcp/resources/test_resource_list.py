"""The list of resources, guides and policy."""

import re
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, Resource, TextResourceContents

from callwright.client.errors import ServiceUnreachable
from callwright.server.mcp.app import build
from callwright.server.mcp.resources import recent
from callwright.server.mcp.resources.content import TEXT_BYTES
from callwright.server.mcp.resources.resources import TEMPLATES, address_of
from callwright.server.mcp.session import ServerSession
from callwright.server.mcp.topics import TOPICS
from callwright.tools.catalogue.registry import TOOLS
from callwright.tools.toolsets import enabled_tools
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, assistant, server, session

GONE = ServiceUnreachable("x", request_sent=False, repeatable=True)
FIXED = {"callwright://policy", "callwright://guides", *(topic.uri for topic in TOPICS)}
NAMES = {tool.name for tool in TOOLS}


async def listed(caller: FakeCaller, era: str = "2026-07-28", **options: Any) -> dict[str, Resource]:
    async with assistant(server(caller, **options), era) as client:
        found = await client.list_resources()
    return {resource.uri: resource for resource in found.resources if resource.uri.startswith("callwright:")}


async def text(made: ServerSession, uri: str, era: str = "2026-07-28") -> str:
    async with assistant(build(made.opened), era) as client:
        [found] = (await client.read_resource(uri)).contents
    assert isinstance(found, TextResourceContents)
    assert found.mime_type == "text/markdown"
    return found.text


async def test_guides_policy_and_the_newest_campaigns_and_calls_are_listed(era: str) -> None:
    found = await listed(FakeCaller(), era)
    assert set(found) == FIXED | {"callwright://deployments/dep_1", "callwright://calls/cal_1/transcript"}
    assert all(entry.title and entry.description and entry.mime_type for entry in found.values())


async def test_sizes_are_the_bytes_that_reading_gives(era: str) -> None:
    async with assistant(server(FakeCaller()), era) as client:
        sized = {entry.uri: entry.size for entry in (await client.list_resources()).resources if entry.size}
        assert len(sized) == len(TOPICS) + 1
        for uri, size in sized.items():
            [found] = (await client.read_resource(uri)).contents
            assert isinstance(found, TextResourceContents)
            assert len(found.text.encode()) == size


async def test_names_are_cleaned_and_numbers_masked() -> None:
    answers = samples.answers() | {"list_deployments": samples.page([samples.deployment(name="a\u202eb\nc")])}
    found = await listed(FakeCaller(answers=answers))
    assert found["callwright://deployments/dep_1"].title == "Campaign ab c"
    assert samples.CALLEE not in str(found["callwright://calls/cal_1/transcript"])


async def test_calls_without_words_are_left_out() -> None:
    answers = samples.answers() | {"list_calls": samples.page([samples.call(turn_count=0)])}
    assert "callwright://calls/cal_1/transcript" not in await listed(FakeCaller(answers=answers))


async def test_without_the_service_the_rest_is_listed(era: str) -> None:
    caller = FakeCaller(answers={"list_deployments": GONE})
    assert set(await listed(caller, era)) == FIXED


async def test_a_slow_service_does_not_hold_up_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stuck(FakeCaller):
        async def ask(self, operation: Any, asked: Any, /, *, idempotency_key: str | None = None) -> Any:
            if operation.name == "list_calls":
                await anyio.sleep_forever()
            return await super().ask(operation, asked, idempotency_key=idempotency_key)

    monkeypatch.setattr(recent, "PATIENCE_S", 0.05)
    assert set(await listed(Stuck())) == FIXED | {"callwright://deployments/dep_1"}


def test_what_is_asked_for_the_list_is_bounded() -> None:
    assert recent.MOST == 20
    assert recent.PATIENCE_S == 3


async def test_the_list_of_guides_names_each_with_its_address(era: str) -> None:
    found = await text(session(FakeCaller()), "callwright://guides", era)
    assert all(f"[{topic.title}]({topic.uri})" in found for topic in TOPICS)


@pytest.mark.parametrize("topic", TOPICS, ids=[topic.name for topic in TOPICS])
async def test_a_guide_is_a_short_text(topic: Any, era: str) -> None:
    caller = FakeCaller()
    found = await text(session(caller), topic.uri, era)
    assert found.startswith(f"# {topic.title}\n")
    assert 800 < len(found) < 4_000
    assert caller.asked == []


def test_every_guide_in_the_folder_is_listed() -> None:
    folder = Path(recent.__file__).parents[1] / "guides"
    assert {path.stem for path in folder.iterdir()} == {topic.name for topic in TOPICS}


@pytest.mark.parametrize("topic", TOPICS, ids=[topic.name for topic in TOPICS])
def test_guides_name_only_tools_and_resources_that_exist(topic: Any) -> None:
    found = topic.file.read_text(encoding="utf-8")
    verbs = {name.partition("_")[0] for name in NAMES} - {"start", "end"}
    words = set(re.findall(r"`([a-z]+_[a-z_]+)`", found))
    assert {word for word in words if word.partition("_")[0] in verbs} <= NAMES
    for uri in re.findall(r"`(callwright://[^`]+)`", found):
        assert uri in FIXED or any(_address(uri) == _address(template.uri) for template in TEMPLATES), uri


def _address(uri: str) -> str:
    return uri.partition("{?")[0]


async def test_an_unknown_topic_names_the_guides_there_are(era: str) -> None:
    async with assistant(server(FakeCaller()), era) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource("callwright://guides/poetry")
    assert caught.value.error.code == INVALID_PARAMS
    assert caught.value.error.message.startswith("Unknown resource. Guides are agent-prompts, audiences, ")


def made(**options: Any) -> ServerSession:
    known = session(options.pop("caller", None) or FakeCaller())
    for name, value in options.items():
        setattr(known, name, value)
    return known


async def test_the_policy_says_what_is_real_asked_masked_and_switched_on(era: str) -> None:
    found = await text(made(), "callwright://policy", era)
    assert "- Simulated: no telephone rings" in found
    assert "- Before real telephones ring or real money is spent the person is asked" in found
    assert "- The middle of contacts' numbers is hidden" in found
    assert f"- {len(TOOLS)} of {len(TOOLS)} are switched on: profile all." in found
    assert len(found.encode()) < TEXT_BYTES // 8


async def test_the_policy_of_another_setting_says_other_things() -> None:
    real = FakeCaller(
        answers=samples.answers() | {"get_wallet": samples.wallet().model_copy(update={"play_money": False})}
    )
    reads = enabled_tools(profile="analyst")
    found = await text(made(caller=real, confirm="never", masks=False, enabled=reads), "callwright://policy")
    assert "- REAL: telephones ring and calls cost money." in found
    assert "- This server does not ask the person" in found
    assert "- Contacts' numbers are shown in full." in found
    assert "switched on: profile analyst.\n- None of them changes, dials or spends anything." in found
    assert re.search(r"- switched off: .*`start_deployment`", found)


async def test_the_policy_can_be_read_while_the_service_is_away() -> None:
    found = await text(made(caller=FakeCaller(answers={"get_wallet": GONE})), "callwright://policy")
    assert "it is not known whether calls would be real" in found


def test_every_address_leads_back_to_its_kind() -> None:
    for template in TEMPLATES:
        values = dict.fromkeys(template.variables, "x-1")
        found = address_of(template.address(values))
        assert (found.template, dict(found.values)) == (template, values)
