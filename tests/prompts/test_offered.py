"""Prompts as a host sees them: only those whose tools are switched on, in both eras."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from callwright.server.mcp.app import build
from callwright.tools.toolsets import enabled_tools
from tests.support.tools.fakes import FakeCaller, assistant, session

READING = ["analyse_campaign", "review_call", "answer_from_transcripts"]


@asynccontextmanager
async def connected(era: str, enabled: frozenset[str]) -> AsyncGenerator[Client]:
    made = session(FakeCaller())
    made.enabled = enabled
    async with assistant(build(made.opened), era) as client:
        yield client


async def test_a_session_that_only_reads_is_shown_the_prompts_that_only_read(era: str) -> None:
    async with connected(era, enabled_tools(profile="analyst")) as client:
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == READING


async def test_a_prompt_that_is_not_shown_cannot_be_had(era: str) -> None:
    async with connected(era, enabled_tools(profile="analyst")) as client:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt("plan_campaign", {"goal": "x"})
    assert caught.value.error.code == INVALID_PARAMS
    assert caught.value.error.message == f"Unknown prompt: plan_campaign. There are {', '.join(READING)}."


async def test_one_tool_that_is_switched_off_hides_its_prompts(era: str) -> None:
    async with connected(era, enabled_tools(profile="all") - {"get_transcript"}) as client:
        found = {prompt.name for prompt in (await client.list_prompts()).prompts}
    assert found == {"plan_campaign", "launch_checklist", "improve_agent_from_calls"}


async def test_without_any_tool_there_is_no_prompt_and_the_reason_is_said(era: str) -> None:
    async with connected(era, frozenset()) as client:
        assert (await client.list_prompts()).prompts == []
        with pytest.raises(MCPError) as caught:
            await client.get_prompt("review_call", {"call_id": "cal_1"})
    assert caught.value.error.message == "Unknown prompt: review_call. The tools that prompts need are switched off."
