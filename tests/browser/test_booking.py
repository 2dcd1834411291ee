"""A person books a time in the browser: spoken and typed, with a calendar on loopback that an agent's tools ask."""

import json
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser

from callwright.service.settings import InstalledService, ServiceSettings, SpeechSettings
from tests.browser.browser import needs_browser
from tests.browser.talking import MICROPHONE, Talking
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import GREETING, YES
from tests.service.telephony.media.speech_endpoint import endpoint
from tests.support import resources
from tests.support.calendar_service import FREE, SECRET, booking_tools, calendar
from tests.support.service import open_service
from tests.support.talks import answering, ended

pytestmark = [
    needs_browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("live-calls"),
]
OFFER = f"I can offer {FREE[0]} or {FREE[1]}. Which one suits you?"


@pytest.mark.requirement("CALLTOOL-01", "CALLTOOL-14")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_booking_is_made_by_voice_and_keys_and_the_page_shows_each_call_of_a_tool(
    browser: Browser, database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with endpoint(sounds.closed_set()) as speech, calendar() as service:
        hears = SpeechSettings(hearing=InstalledService(kind="openai", url=speech.url))
        opened = (ip_network("127.0.0.0/8"),)
        settings = ServiceSettings(data=tmp_path, database_url=database_url, speech=hears, webhook_networks=opened)
        async with open_service(database_url, tmp_path, settings=settings) as tenant, answering(tenant):
            agents = tenant.client.agents
            agent = await resources.agent(tenant, system_prompt="Be kind.", welcome_message=GREETING)
            tools: Any = booking_tools(service, first_words="suits me")
            await agents.set_call_tools(id=agent.id, call_tools=tools)
            for tool in ("free_times", "book"):
                await agents.set_call_tool_secret(id=agent.id, tool=tool, header="Authorization", value=SECRET)
            talk = await agents.talk(id=agent.id, variables={"first_name": "Ada"})
            context = await browser.new_context()
            page = await context.new_page()
            await page.add_init_script(path=MICROPHONE)
            talking = Talking(page)
            await page.goto(talk.url)
            await page.get_by_role("button", name="Begin the talk").click()
            await talking.until(lambda: any(text.startswith(GREETING) for text in talking.said("agent")))
            await talking.say_until(sounds.contact[YES], lambda: OFFER in talking.said("agent"))
            await page.locator("#words").fill("Wednesday at three, please.")
            await page.locator("#words").press("Enter")
            await talking.until(lambda: any(text.startswith("You are booked") for text in talking.said("agent")))
            shown = await page.locator("#captions li.tool").all_inner_texts()
            await page.get_by_role("button", name="Hang up").click()
            await context.close()
            call = await ended(tenant.client, talk.call_id)
            turns = (await tenant.client.calls.get_transcript(call_uuid=call.id)).turns
    assert shown == ["free_times was called", "book was called"]
    assert speech.transcribed == [YES]
    called = [turn.tool_call for turn in turns if turn.tool_call is not None]
    assert [(one.name, one.ok) for one in called] == [("free_times", True), ("book", True)]
    assert json.loads(called[1].result) == {"booked": FREE[1], "reference": "B-17"}
    assert service.booked == [{"time": FREE[1]}]
    assert {headers["Authorization"] for headers in service.headers} == {SECRET}
