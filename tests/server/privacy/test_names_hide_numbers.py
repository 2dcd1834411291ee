"""Hidden digits of a number in the name of a thing are not found by asking for names that are nearly it."""

from typing import Any

import pytest

from tests.support.campaigns import draft, make_agent, people
from tests.support.mcp.over_http import WAYS, Era, Over, Served
from tests.support.processes.programs import Assistant

pytestmark = pytest.mark.service(workers=True)

NAMES = ("Meier +491712345678 warm", "Meier +491719875678 warm")
SHOWN = "Meier +4917•••5678 warm"
NESTED = {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}
PIECES = ("1234", "2345", "712345", "Meier +49171234", "meier +4917123456", "Meier +49 171 2345678 warmer", "Meier")
"""Pieces of the first name, with digits that are hidden, and what both names have."""
REFERENCES = (
    ("get_audience", "id"),
    ("get_agent", "id"),
    ("get_deployment", "id"),
    ("list_calls", "agent_id"),
    ("list_calls", "deployment_id"),
)


@pytest.mark.parametrize(("over", "era"), WAYS)
async def test_names_that_are_shown_alike_are_near_alike_whatever_digits_they_hide(
    served: Served, over: Over, era: Era
) -> None:
    async with served.assistant(over=over, era=era) as hand:
        for name in NAMES:
            agent = await make_agent(served.tenant, name)
            await draft(served.tenant, people(1), name, agent_id=agent.id)
            await served.tenant.client.audiences.create(name=name)
        for tool, argument in REFERENCES:
            said = [await _refusal(hand, tool, {argument: piece}) for piece in PIECES]
            near = [sum(SHOWN in line for line in one.splitlines()[1:]) for one in said]
            assert near[:3] == [0, 0, 0]
            assert [count % 2 for count in near] == [0] * len(PIECES), near
            assert near[-1] >= 2


@pytest.mark.service(workers=True)
async def test_a_number_in_place_of_an_id_is_not_repeated_whole(served: Served, hand: Assistant) -> None:
    await make_agent(served.tenant, "Call +12025559143")
    said = [await _refusal(hand, tool, {argument: "+1 202 555 9143"}) for tool, argument in REFERENCES]
    said.append(str(await hand.client.call_tool("get_agent", {"agent_id": "Call +12025559143"})))
    said += [await _refusal(hand, "list_transactions", {"reference_id": "+12025559143"})]
    said += [await _refusal(hand, "get_wallet", {name: 1}) for name in ("+12025559143", "+1 202-555-9143")]
    said.append(
        await _refusal(hand, "add_audience_rows", {"audience_id": "aud_1", "rows": [{"a.+12025559143": NESTED}]})
    )
    for text in said:
        assert "+1202•••9143" in text
        assert "555 9143" not in text
        assert "5559143" not in text


async def _refusal(hand: Any, tool: str, arguments: dict[str, Any]) -> str:
    return str(await hand.refused(tool, **arguments))
