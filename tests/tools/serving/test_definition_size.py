"""What the definitions cost, measured on what `tools/list` sends, and what a lint of tool definitions finds in them."""

import json
from typing import Any

import pytest
from tdqs import lint_server
from tdqs.parse_tool_definitions import parse_tool_definitions

from callwright.server.mcp.app import build
from callwright.server.mcp.instructions import instructions
from callwright.tools.serving.served import served_tools
from callwright.tools.toolsets import PROFILES, enabled_tools
from tests.support.tools.fakes import FakeCaller, assistant, session

MOST_BYTES = {"analyst": 21_500, "operator": 34_000, "builder": 46_600, "all": 110_000}
"""Four bytes are taken for a token: 11,350 by default, a tenth of what a server made of our OpenAPI document sends."""
MOST_BYTES_A_TOOL = 1_320
"""On average over a profile: 330 tokens."""
MOST_OF_IT_ABOUT_ANSWERS = 0.35
each_profile = pytest.mark.parametrize("profile", PROFILES)


async def listed(profile: str, era: str) -> list[dict[str, Any]]:
    enabled = enabled_tools(profile=profile)
    own = session(FakeCaller())
    own.enabled = enabled
    async with assistant(build(own.opened, tools=served_tools(enabled)), era) as client:
        found = await client.list_tools()
    return found.model_dump(mode="json", by_alias=True, exclude_none=True)["tools"]


def size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


@each_profile
async def test_a_list_of_tools_keeps_to_its_bound(profile: str, era: str) -> None:
    assert size({"tools": await listed(profile, era)}) <= MOST_BYTES[profile]


@each_profile
async def test_the_tools_of_a_list_keep_to_330_tokens_each_on_average(profile: str) -> None:
    tools = await listed(profile, "auto")
    assert size({"tools": tools}) <= MOST_BYTES_A_TOOL * len(tools)


async def test_a_third_of_the_default_list_at_most_is_about_answers() -> None:
    tools = await listed("builder", "auto")
    assert sum(size(tool["outputSchema"]) for tool in tools) <= MOST_OF_IT_ABOUT_ANSWERS * size(tools)


@each_profile
def test_instructions_fit_in_two_kilobytes(profile: str) -> None:
    assert len(instructions(enabled_tools(profile=profile)).encode()) <= 2_000


@each_profile
async def test_the_lint_of_tool_definitions_has_no_error_and_no_warning(profile: str) -> None:
    tools = parse_tool_definitions({"tools": await listed(profile, "auto")}).tools
    found = lint_server(server_name="callwright", tools=tools).findings
    assert [finding.message for finding in found] == []
