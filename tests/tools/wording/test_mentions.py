"""Nothing that an assistant reads names a tool it does not have."""

import json
import re

import pytest
from mcp.types import Tool as ProtocolTool

from callwright.client.errors import ServiceTimeout
from callwright.server.mcp.app import build
from callwright.server.mcp.instructions import instructions
from callwright.tools.catalogue.registry import tool_named
from callwright.tools.replies.errors import NEXT, explained
from callwright.tools.serving.served import offered, served_tools
from callwright.tools.toolsets import PROFILES, TOOLSETS, enabled_tools, known_tools
from callwright.tools.wording.mentions import named_in, offered_words
from tests.support.tools import good_arguments
from tests.support.tools.fakes import FakeCaller, assistant, session
from tests.support.tools.problems import service_problem

EVERY = frozenset(tool.name for tool in known_tools())
CHOICES = {
    **{f"profile {profile}": enabled_tools(profile=profile) for profile in PROFILES},
    **{f"toolset {toolset}": enabled_tools(toolsets=(toolset,)) for toolset in TOOLSETS},
    **{f"{profile} read only": enabled_tools(profile=profile, read_only=True) for profile in PROFILES},
    **{f"tool {tool.name}": enabled_tools(toolsets=(tool.name,)) for tool in known_tools()},
}
each_choice = pytest.mark.parametrize("enabled", CHOICES.values(), ids=CHOICES)


@each_choice
def test_instructions_and_definitions_name_no_absent_tool(enabled: frozenset[str]) -> None:
    words = [instructions(enabled)]
    tools = served_tools(enabled)
    for tool in tools:
        words += [tool.description, json.dumps(tool.parameters), json.dumps(tool.output_schema)]
    assert {tool.name for tool in tools} == enabled
    assert [named_in(text) - enabled for text in words if named_in(text) - enabled] == []


@each_choice
def test_what_is_left_of_a_description_still_says_what_the_tool_does(enabled: frozenset[str]) -> None:
    for tool in served_tools(enabled):
        said = tool.description
        assert len(said) > 60
        assert said[0].isupper()
        assert said.endswith((".", "?"))
        assert not re.search(r"\s[.;,]|\.\.|\(\s*\)|  ", said)


@pytest.mark.parametrize("profile", PROFILES)
async def test_over_the_protocol_a_profile_lists_its_tools_and_no_word_of_others(profile: str, era: str) -> None:
    enabled = enabled_tools(profile=profile)
    own = session(FakeCaller())
    own.enabled = enabled
    async with assistant(build(own.opened), era) as client:
        listed = (await client.list_tools()).tools
    assert {tool.name for tool in listed} == enabled
    text = " ".join(tool.model_dump_json() for tool in listed)
    assert named_in(text) <= enabled


@pytest.mark.parametrize("name", sorted(EVERY))
async def test_a_tool_that_is_switched_off_does_not_run(name: str) -> None:
    caller = FakeCaller()
    own = session(caller)
    own.enabled = EVERY - {name}
    async with assistant(build(own.opened), "2026-07-28") as client:
        result = await client.call_tool(name, {})
    assert result.is_error
    assert caller.asked == []


def test_what_is_offered_whole_is_passed_on_as_it_is() -> None:
    tools = [ProtocolTool(name="get_call", description="Use list_calls.", input_schema={"type": "object"})]
    assert offered(tools, EVERY.__contains__) is tools


@each_choice
def test_advice_names_no_absent_tool(enabled: frozenset[str]) -> None:
    for name in enabled:
        tool = tool_named(name)
        for code in NEXT:
            assert named_in(explained(service_problem(code), tool, offers=enabled.__contains__)) <= enabled
        lost = ServiceTimeout("late", request_sent=True, repeatable=False)
        assert named_in(explained(lost, tool, offers=enabled.__contains__)) <= enabled


@pytest.mark.parametrize("name", ["get_deployment", "create_deployment", "pause_deployment", "import_audience"])
async def test_hints_in_replies_name_no_absent_tool(name: str) -> None:
    own = session(FakeCaller())
    own.enabled = frozenset({name})
    given = good_arguments.arguments(name, "deployments", ["deployment_id"])
    async with assistant(build(own.opened), "2026-07-28") as client:
        result = await client.call_tool(name, given)
    assert not result.is_error
    assert named_in(result.model_dump_json()) <= {name}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("A thing. Use get_call for one.", "A thing."),
        ("A thing; get_call shows it.", "A thing."),
        ("get_call shows it; it is free.", "It is free."),
        ("Call id (cal_…), from get_call.", "Call id (cal_…)."),
        ("Call id, from get_call (id or name).", "Call id (id or name)."),
        ("Needs a call (get_call) and time.", "Needs a call and time."),
        ("No call fits. Use list_calls.", "No call fits. Use list_calls."),
        ("get_call helps.", ""),
    ],
)
def test_sentences_clauses_and_asides_are_left_out(text: str, left: str) -> None:
    assert offered_words(text, lambda tool: tool != "get_call") == left
