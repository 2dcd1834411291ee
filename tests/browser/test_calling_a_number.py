"""A person calls a number from a real browser: the webhook decides, the agent hears the microphone, and all is kept."""

from pathlib import Path

import pytest
from playwright.async_api import Browser

from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.service.settings import InstalledService, ServiceSettings, SpeechSettings
from tests.browser.browser import needs_browser
from tests.browser.talking import MICROPHONE, PATIENCE_S, Talking
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.recordings import read_recording
from tests.service.telephony.media.sentences import GREETING, PROMPT, QUESTION, YES
from tests.service.telephony.media.speech_endpoint import endpoint
from tests.support.campaigns import make_agent, rent
from tests.support.service import open_service
from tests.support.talks import answering, ended
from tests.support.webhooks.endpoints import saying, sink, status

pytestmark = [
    needs_browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("live-calls"),
    pytest.mark.parametrize("engine", ["sqlite"], indirect=True),
]


@pytest.mark.requirement("INB-16")
async def test_a_person_calls_a_number_and_talks_with_the_agent_as_the_webhook_says(
    browser: Browser, database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    answer = b'{"action": "answer", "metadata": {"ticket": "7"}}'
    async with endpoint(sounds.closed_set()) as service, sink(saying(status(200, answer))) as hook:
        hears = SpeechSettings(hearing=InstalledService(kind="openai", url=service.url))
        settings = ServiceSettings(data=tmp_path, database_url=database_url, speech=hears, webhook_networks=LOOPBACK)
        async with open_service(database_url, tmp_path, settings=settings) as tenant, answering(tenant):
            number = await rent(tenant)
            agent = await make_agent(tenant, system_prompt=PROMPT, welcome_message=GREETING)
            await tenant.client.deployments.create_inbound(name="Desk", agent_id=agent.id, phone_number_id=number.id)
            await tenant.client.phone_numbers.set_inbound_routing(id=number.id, url=hook.url())
            talk = await tenant.client.phone_numbers.talk(id=number.id)
            context = await browser.new_context()
            page = await context.new_page()
            await page.add_init_script(path=MICROPHONE)
            talking = Talking(page)
            await page.goto(talk.url)
            assert hook.requests == [], "nobody has called before the button is pressed"
            await page.get_by_role("button", name="Begin the talk").click()
            await talking.until(lambda: any(GREETING in text for text in talking.said("agent")))
            await talking.say_until(
                sounds.contact[YES], lambda: any(QUESTION in text for text in talking.said("agent"))
            )
            await page.get_by_role("button", name="Hang up").click()
            await page.get_by_text("Ended", exact=True).wait_for(timeout=PATIENCE_S * 1_000)
            await context.close()
            call = await ended(tenant.client, talk.call_id)
            turns = (await tenant.client.calls.get_transcript(call_uuid=call.id)).turns
            recorded = read_recording(tenant.services.recordings.lines.folder / f"{call.id}.wav")
    assert (call.call_type, call.outcome, call.hangup_cause) == ("inbound", "answered", "contact_hangup")
    assert call.inbound is not None
    assert (call.inbound.routed_by, call.inbound.metadata) == ("webhook", {"ticket": "7"})
    assert [turn.text for turn in turns if turn.role == "contact"] == [YES]
    assert any(recorded.agent)
    assert len(hook.requests) == 1


async def test_a_person_who_is_refused_reads_why(browser: Browser, database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path) as tenant, answering(tenant):
        number, agent = await rent(tenant), await make_agent(tenant)
        made = await tenant.client.deployments.create_inbound(name="Desk", agent_id=agent.id, phone_number_id=number.id)
        await tenant.client.deployments.pause(id=made.id)
        talk = await tenant.client.phone_numbers.talk(id=number.id)
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(talk.url)
        await page.get_by_role("button", name="Begin the talk").click()
        await page.get_by_text("The number is busy.").wait_for(timeout=PATIENCE_S * 1_000)
        assert await page.locator("#state").inner_text() == "Not opened"
        await context.close()
