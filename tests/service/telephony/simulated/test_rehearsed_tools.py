"""A booking on the simulated network through the public API: the tools are called by rule, and nothing is sent."""

import json
from typing import Any

import pytest

from tests.support.campaigns import calls_of, make_agent, people, run
from tests.support.service import Tenant

PROMPT = """You are Ada from Northwind Dental.
Goals:
- Find out whether they have moved
"""
FREE: dict[str, Any] = {
    "type": "http",
    "name": "free_times",
    "description": "Free times.",
    "url": "https://calendar.example.com/free?day={{day}}",
    "parameters": {"type": "object", "properties": {"day": {"type": "string", "default": "Tuesday"}}},
    "rehearsal": {"times": ["Tuesday at ten", "Wednesday at three"]},
    "use_when": {
        "words": ["appointment", "yes"],
        "say": "I can offer {{answer.times.0}} or {{answer.times.1}}. Which one suits you?",
    },
}
BOOK: dict[str, Any] = {
    "type": "http",
    "name": "book",
    "description": "Books a time.",
    "method": "POST",
    "url": "https://calendar.example.com/book",
    "parameters": {
        "type": "object",
        "properties": {"time": {"type": "string"}, "first_name": {"type": "string"}},
        "required": ["time", "first_name"],
    },
    "use_when": {"after": "free_times", "say": "You are booked for {{time}}."},
}

END: dict[str, Any] = {
    "type": "end_call",
    "name": "end_call",
    "description": "Ends the call.",
    "sentence": "Goodbye, {{first_name}}.",
    "use_when": {"words": ["that was all"]},
}


@pytest.mark.service(workers=True)
@pytest.mark.requirement("CALLTOOL-11", "CALLTOOL-12")
async def test_a_booking_on_the_simulated_network_calls_the_tools_and_sends_nothing(tenant: Tenant) -> None:
    agent = await make_agent(tenant, system_prompt=PROMPT, welcome_message="Hello, do you want an appointment?")
    await tenant.client.agents.set_call_tools(id=agent.id, call_tools=[FREE, BOOK, END])  # pyright: ignore[reportArgumentType]  # checked as it is sent
    rows = people(1, sim_outcome="answered", sim_script="Yes please.|Wednesday at three, please.|That was all.")
    campaign = await run(tenant, rows, agent_id=agent.id)
    (call,) = await calls_of(tenant, campaign.id)
    transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
    said = [(turn.role, turn.text) for turn in transcript.turns if turn.role != "contact"]
    assert said[1:5] == [
        ("system", ""),
        ("agent", "I can offer Tuesday at ten or Wednesday at three. Which one suits you?"),
        ("system", ""),
        ("agent", "You are booked for Wednesday at three. Have you moved?"),
    ]
    free, book, *rest = [turn.tool_call for turn in transcript.turns if turn.tool_call is not None]
    assert (free.name, json.loads(free.arguments), free.ok) == ("free_times", {"day": "Tuesday"}, True)
    assert json.loads(free.result) == FREE["rehearsal"]
    assert json.loads(book.arguments) == {"time": "Wednesday at three", "first_name": "Person 0"}
    assert "made_up" in book.result
    assert [one.name for one in rest] == ["end_call"]
    assert said[-1] == ("agent", "Goodbye, Person 0.")
    assert {turn.source for turn in transcript.turns if turn.role == "system"} == {"rehearsal"}

    events = [one async for one in tenant.client.events.list(type=["call.tool_called"])]
    told = sorted((one.data["turn_index"], one.data["tool"], one.data["ok"]) for one in events)
    turns = [turn for turn in transcript.turns if turn.tool_call is not None]
    assert told == [(turn.index, turn.tool_call.name, True) for turn in turns if turn.tool_call is not None]
    assert all("Wednesday" not in json.dumps(one.data) for one in events)

    conversations = await tenant.client.calls.read_conversations()
    used = [(turn.tool, turn.ok) for turn in conversations.conversations[0].turns if turn.role == "system"]
    assert used == [("free_times", True), ("book", True), ("end_call", True)]
    asked = await tenant.client.calls.read_conversations(speaker="agent")
    assert {turn.role for turn in asked.conversations[0].turns} == {"agent"}
    found = [one async for one in tenant.client.transcripts.search(query="Person")]
    assert [snippet.role for snippet in found[0].snippets] == ["agent"]
    async with tenant.client.calls.get_recording(call_uuid=call.id, format="wav") as sound:
        assert len(await sound.read(50_000_000)) > 100_000


NOES = (
    "No, neither suits me.",
    "Not Wednesday, please.",
    "I don't want Wednesday at three.",
    "What was Wednesday again?",
)


@pytest.mark.service(workers=True)
@pytest.mark.requirement("CALLTOOL-12")
@pytest.mark.parametrize("answer", [*NOES, "Hm, let me think.", "Fine."])
async def test_nothing_is_booked_that_the_contact_has_not_named(tenant: Tenant, answer: str) -> None:
    agent = await make_agent(tenant, system_prompt=PROMPT, welcome_message="Hello, do you want an appointment?")
    await tenant.client.agents.set_call_tools(id=agent.id, call_tools=[FREE, BOOK])  # pyright: ignore[reportArgumentType]  # checked as it is sent
    rows = people(1, sim_outcome="answered", sim_script=f"Yes please.|{answer}|Good.")
    campaign = await run(tenant, rows, agent_id=agent.id)
    (call,) = await calls_of(tenant, campaign.id)
    turns = (await tenant.client.calls.get_transcript(call_uuid=call.id)).turns
    assert [turn.tool_call.name for turn in turns if turn.tool_call is not None] == ["free_times"]


@pytest.mark.service(workers=True)
@pytest.mark.requirement("CALLTOOL-12")
async def test_a_no_to_the_offer_asks_no_tool_and_what_is_not_known_is_not_made_up(tenant: Tenant) -> None:
    agent = await make_agent(tenant, system_prompt=PROMPT, welcome_message="Hello, do you want an appointment?")
    given = {"type": "object", "properties": {"email": {"type": "string"}}, "required": ["email"]}
    unknown = FREE | {"url": "https://calendar.example.com/free", "parameters": given}
    for tools, script in ([FREE], "No, I do not want an appointment."), ([unknown], "Yes please."):
        await tenant.client.agents.set_call_tools(id=agent.id, call_tools=tools)  # pyright: ignore[reportArgumentType]  # checked as it is sent
        campaign = await run(tenant, people(1, sim_outcome="answered", sim_script=script), script, agent_id=agent.id)
        (call,) = await calls_of(tenant, campaign.id)
        turns = (await tenant.client.calls.get_transcript(call_uuid=call.id)).turns
        assert [turn for turn in turns if turn.tool_call is not None] == []


@pytest.mark.service(workers=True)
@pytest.mark.requirement("CALLTOOL-18")
@pytest.mark.parametrize(
    ("script", "disposition"),
    [
        ("Yes please.|Wednesday at three, please.|Bye.", "goal_met"),
        ("Yes please.|Wednesday at three, please.|No, thanks.", "goal_met"),
        ("Yes please.|Wednesday at three, please.|That was all.", "goal_met"),
        ("Yes please.|Wednesday at three, please.|Don't call me again.", "do_not_call"),
        ("Yes please.|Hm, let me think.|Fine.|Fine.", "interested"),
        ("Hm.|Fine.|Good.", "incomplete"),
    ],
)
async def test_a_booking_is_what_the_call_is_to_achieve(tenant: Tenant, script: str, disposition: str) -> None:
    agent = await make_agent(tenant, system_prompt=PROMPT, welcome_message="Hello, do you want an appointment?")
    await tenant.client.agents.set_call_tools(id=agent.id, call_tools=[FREE, BOOK, END])  # pyright: ignore[reportArgumentType]  # checked as it is sent
    campaign = await run(tenant, people(1, sim_outcome="answered", sim_script=script), agent_id=agent.id)
    (call,) = await calls_of(tenant, campaign.id)
    assert call.disposition == disposition
