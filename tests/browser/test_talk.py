"""A person talks to an agent in the browser: microphone, service, media process, a recogniser that listens."""

from pathlib import Path

import pytest
from playwright.async_api import Browser

from callwright.service.settings import InstalledService, ServiceSettings, SpeechSettings
from callwright.service.telephony.engine import Turn
from tests.browser.browser import needs_browser
from tests.browser.talking import MICROPHONE, PATIENCE_S, Talking
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.recordings import not_recorded, read_recording
from tests.service.telephony.media.sentences import COST, LATER, LONG, PRICE, PROMPT, YES
from tests.service.telephony.media.speech_endpoint import endpoint
from tests.support import resources
from tests.support.service import open_service
from tests.support.talks import answering, ended

pytestmark = [
    needs_browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("live-calls"),
]
TWO_QUESTIONS = f"{PROMPT}\n- Ask whether mornings suit them."


@pytest.mark.requirement("LINE-06")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_three_sentences_are_heard_the_first_interrupts_and_all_of_it_is_kept(
    browser: Browser, database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    known = sounds.closed_set()
    async with endpoint(known) as service:
        hears = SpeechSettings(hearing=InstalledService(kind="openai", url=service.url))
        settings = ServiceSettings(data=tmp_path, database_url=database_url, speech=hears)
        async with open_service(database_url, tmp_path, settings=settings) as tenant, answering(tenant):
            agent = await resources.agent(tenant, system_prompt=TWO_QUESTIONS, welcome_message=LONG)
            talk = await tenant.client.agents.talk(id=agent.id)
            assert talk.hears
            context = await browser.new_context()
            page = await context.new_page()
            await page.add_init_script(path=MICROPHONE)
            faults: list[str] = []
            page.on("pageerror", lambda error: faults.append(str(error)))
            talking = Talking(page)
            await page.goto(talk.url)
            await page.get_by_role("button", name="Begin the talk").click()
            await talking.until(lambda: talking.sound_bytes > 48_000)  # the agent has spoken for a second and a half
            await talking.say(sounds.contact[COST])
            await talking.until(lambda: any(PRICE in text for text in talking.said("agent")))
            await talking.say(sounds.contact[LATER])
            await talking.until(lambda: len(talking.said("contact")) >= 2 and len(talking.said("agent")) >= 3)
            await talking.say(sounds.contact[YES])
            await page.get_by_text("Ended", exact=True).wait_for(timeout=PATIENCE_S * 1_000)
            captions = await page.locator("#captions li").all_inner_texts()
            await context.close()
            assert faults == []
            call = await ended(tenant.client, talk.call_id)
            turns = (await tenant.client.calls.get_transcript(call_uuid=call.id)).turns
            recorded = read_recording(tenant.services.recordings.lines.folder / f"{call.id}.wav")
    assert [text for text in service.transcribed if text] == [COST, LATER, YES]  # a noise is heard as nothing
    assert [turn.text for turn in turns if turn.role == "contact"] == [COST, LATER, YES]
    assert [text.partition("\n")[2] for text in captions if text.startswith("You")] == [COST, LATER, YES]
    order = [message["type"] for message in talking.messages if message["type"] in ("clear", "caption", "ended")]
    assert "clear" in order
    assert order[-1] == "ended"
    first = turns[0]
    assert (first.role, first.interrupted) == ("agent", True)
    assert LONG.startswith(first.text)
    assert call.outcome == "answered"
    assert call.latency_p50_ms is not None
    spoken = [
        Turn(turn.index, turn.role, turn.text, turn.start_seconds, turn.end_seconds, turn.language)
        for turn in turns
        if turn.role == "contact"
    ]
    assert not_recorded(recorded, spoken, known) == []
    assert len(not_recorded(recorded.swapped, spoken, known)) == len(spoken)
    assert len(not_recorded(recorded.silenced, spoken, known)) == len(spoken)
    assert any(recorded.agent)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_link_that_opens_nothing_leaves_the_reason_and_nothing_to_press(
    browser: Browser, database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path) as tenant, answering(tenant):
        agent = await resources.agent(tenant, system_prompt=TWO_QUESTIONS, welcome_message=LONG)
        talk = await tenant.client.agents.talk(id=agent.id)
        address, _, token = talk.url.partition("#")
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(f"{address}#{token[:-1]}")
        await page.get_by_role("button", name="Begin the talk").click()
        await page.get_by_text("This link was used already").wait_for(timeout=PATIENCE_S * 1_000)
        used = await page.locator("button:visible, input:visible").count()
        await page.goto("about:blank")
        await page.goto(address)
        await page.get_by_text("The link is not whole").wait_for(timeout=PATIENCE_S * 1_000)
        broken = await page.locator("button:visible, input:visible").count()
        state = await page.locator("#state").inner_text()
        await context.close()
    assert (used, broken, state) == (0, 0, "Not opened")
