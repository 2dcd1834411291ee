"""A person books a time in a talk in the browser: the agent asks a calendar on loopback, with its secret."""

import json
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import anyio
import pytest

from callwright.service.settings import ServiceSettings
from tests.support import resources
from tests.support.calendar_service import FREE, SECRET, booking_tools, calendar
from tests.support.service import open_service
from tests.support.talks import answering, ended, page_of, silent_microphone

OFFER = f"I can offer {FREE[0]} or {FREE[1]}. Which one suits you?"
BOOKED = f"You are booked for {FREE[1]}."
TYPED = {"Hello": "I would like an appointment.", "I can": "Wednesday at three, please.", "You are": "Goodbye."}
"""What the person types, by how the agent's words begin."""


@pytest.mark.xdist_group("live-calls")
@pytest.mark.requirement("CALLTOOL-01", "CALLTOOL-09", "CALLTOOL-12", "CALLTOOL-14")
async def test_a_booking_in_a_talk_stands_in_transcript_and_events(
    database_url: str, tmp_path: Path, alone: None
) -> None:
    opened = (ip_network("127.0.0.0/8"),)
    settings = ServiceSettings(data=tmp_path, database_url=database_url, webhook_networks=opened)
    async with (
        calendar() as service,
        open_service(database_url, tmp_path, settings=settings) as tenant,
        answering(tenant) as root,
    ):
        agent = await resources.agent(tenant, system_prompt="Be kind.", welcome_message="Hello, this is Ada.")
        tools: Any = booking_tools(service, first_words="appointment")
        await tenant.client.agents.set_call_tools(id=agent.id, call_tools=tools)
        given = {"header": "Authorization", "value": SECRET}
        await tenant.client.agents.set_call_tool_secret(id=agent.id, tool="free_times", **given)
        talk = await tenant.client.agents.talk(id=agent.id, variables={"first_name": "Ada Bo"})
        called: list[tuple[str, bool]] = []
        async with page_of(talk, origin=root) as page, anyio.create_task_group() as tasks:
            tasks.start_soon(silent_microphone, page)
            async for message in page:
                if isinstance(message, bytes):
                    continue
                said = json.loads(message)
                if said["type"] == "ended":
                    break
                if said["type"] == "tool":
                    called.append((said["name"], said["is_ok"]))
                if said["type"] == "caption" and said["role"] == "agent":
                    answer = next((words for start, words in TYPED.items() if said["text"].startswith(start)), None)
                    if answer is not None:
                        await page.send(json.dumps({"type": "text", "text": answer}))
            tasks.cancel_scope.cancel()
        call = await ended(tenant.client, talk.call_id)
        transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
        await tenant.ended(talk.deployment_id)
        events = [one async for one in tenant.client.events.list(type=["call.tool_called"])]
    assert called == [("free_times", True), ("book", False)]  # the secret of the second was not set
    free, book = [turn for turn in transcript.turns if turn.tool_call is not None]
    assert free.tool_call is not None
    assert (free.role, free.source, json.loads(free.tool_call.result)) == ("system", "policy", {"times": [*FREE]})
    assert book.tool_call is not None
    assert "secret header Authorization is not set" in book.tool_call.result
    assert json.loads(book.tool_call.arguments) == {"time": FREE[1]}
    words = [turn.text for turn in transcript.turns if turn.role == "agent"]
    assert OFFER in words
    assert not any(text.startswith(BOOKED) for text in words)
    assert service.asked == [("GET", "/free?of=Ada%20Bo")]
    assert service.headers[0]["Authorization"] == SECRET
    told = sorted((one.data["tool"], one.data["ok"], one.data["turn_index"]) for one in events)
    assert told == [("book", False, book.index), ("free_times", True, free.index)]
