"""Hidden digits of a contact's number cannot be found by looking for one number after the other."""

from typing import Any

import pytest
from mcp import Client

from callwright.tools.number_guesses import MOST_ALIKE

from .fakes import ERAS, FakeCaller, assistant, server

QUESTIONS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("list_contacts", {"id": "dep_1"}, "phone_number"),
    ("list_audience_rows", {"id": "aud_1"}, "phone_number"),
    ("list_calls", {}, "to"),
)


async def _refusals(client: Client, tool: str, arguments: dict[str, Any], field: str) -> list[bool]:
    found = [await client.call_tool(tool, {**arguments, field: f"+1202{555 + i:03d}0100"}) for i in range(12)]
    return [result.is_error is True for result in found]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("tool", "arguments", "field"), QUESTIONS)
async def test_a_few_numbers_that_look_alike_may_be_looked_for_and_no_more(
    tool: str, arguments: dict[str, Any], field: str, era: str
) -> None:
    async with assistant(server(FakeCaller()), era) as client:
        assert await _refusals(client, tool, arguments, field) == [False] * MOST_ALIKE + [True] * (12 - MOST_ALIKE)
        again = await client.call_tool(tool, {**arguments, field: "+12025550100"})
        other = await client.call_tool(tool, {**arguments, field: "+14155550101"})
        assert not again.is_error
        assert not other.is_error
        said = await client.call_tool(tool, {**arguments, field: "+12029990100"})
        assert "+1202•••0100" in str(said.content)
        assert "999" not in str(said.content)


@pytest.mark.parametrize(("tool", "arguments", "field"), QUESTIONS)
async def test_where_numbers_are_shown_whole_any_number_may_be_looked_for(
    tool: str, arguments: dict[str, Any], field: str
) -> None:
    async with assistant(server(FakeCaller(), masks=False), "auto") as client:
        assert await _refusals(client, tool, arguments, field) == [False] * 12
