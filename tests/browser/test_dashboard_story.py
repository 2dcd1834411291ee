"""The whole story at the dashboard, in a real browser: from the first key to its revocation."""

import asyncio
import re
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest
from playwright.async_api import Browser

from callwright.client.transport import httpx
from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.service.settings import InstalledService, ServiceSettings, SpeechSettings
from tests.browser.browser import needs_browser
from tests.browser.seats import Seat, seated
from tests.browser.talking import MICROPHONE, PATIENCE_S, Talking
from tests.journeys.hosts import Person, host
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import GREETING, PROMPT, QUESTION, YES
from tests.service.telephony.media.speech_endpoint import endpoint
from tests.support.campaigns import draft, people
from tests.support.webhooks.endpoints import Sink, sink, status

pytestmark = [
    needs_browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("live-calls"),
    pytest.mark.parametrize("engine", ["sqlite"], indirect=True),
]
_ROWS = "\n".join(f"Person {at},(415) 555-01{at:02}" for at in range(12))
_LIST = f"first name,phone\n{_ROWS}\nNobody,12\n"


@dataclass
class Receiver:
    """A program that is broken at first."""

    works: bool = False
    answered: list[int] = field(default_factory=list[int])

    async def answer(self, writer: asyncio.StreamWriter) -> None:
        """Says what it is able to."""
        code = 200 if self.works else 500
        self.answered.append(code)
        writer.write(status(code))
        await writer.drain()


@pytest.mark.requirement("DASH-18")
async def test_with_a_browser_alone_everything_is_done_from_the_first_key_to_its_revocation(
    browser: Browser, database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    receiver = Receiver()
    async with endpoint(sounds.closed_set()) as service, sink(receiver.answer) as hook:
        hears = SpeechSettings(hearing=InstalledService(kind="openai", url=service.url))
        settings = ServiceSettings(data=tmp_path, database_url=database_url, speech=hears, webhook_networks=LOOPBACK)
        async with seated(browser, database_url, tmp_path, settings=settings) as seat:
            talking = Talking(seat.tab)
            await seat.tab.add_init_script(path=MICROPHONE)
            key = await make_key(seat)
            assert await status_with(seat, key) == 200
            (session,) = [cookie["value"] for cookie in await seat.tab.context.cookies() if "value" in cookie]
            assert await refusal_with(seat, session) == (401, "api_key_required")
            await subscribe(seat, hook)
            await make_agent(seat)
            await upload_list(seat, tmp_path)
            await run_campaign(seat)
            await listen(seat)
            await talk(seat, talking, sounds)
            await answer_an_assistant(seat, tmp_path)
            receiver.works = True
            await send_again(seat, receiver)
            await top_up(seat)
            await revoke(seat, key)
            assert await refusal_with(seat, key) == (401, "invalid_api_key")
            assert seat.complaints == []


async def status_with(seat: Seat, secret: str) -> int:
    """What REST answers to a secret."""
    async with httpx.AsyncClient() as http:
        answer = await http.get(f"{seat.root}/v1/agents", headers={"Authorization": f"Bearer {secret}"})
    return answer.status_code


async def refusal_with(seat: Seat, secret: str) -> tuple[int, str]:
    """How REST refuses a secret."""
    async with httpx.AsyncClient() as http:
        answer = await http.get(f"{seat.root}/v1/agents", headers={"Authorization": f"Bearer {secret}"})
    error = answer.json()["error"]
    return answer.status_code, error if isinstance(error, str) else error["code"]


async def make_key(seat: Seat) -> str:
    """Makes a key, and reads it where it is shown once."""
    await seat.open("/settings/api-keys")
    await seat.tab.locator("form", has_text="For a program").locator("[name=label]").fill("billing job")
    await seat.press("Make an API key")
    return await seat.tab.locator("#secret").inner_text()


async def subscribe(seat: Seat, hook: Sink) -> None:
    """Has events sent to a program."""
    await seat.open("/webhooks/new")
    await seat.tab.fill("[name=url]", hook.url())
    await seat.tab.check("[name=events][value='deployment.completed']")
    await seat.tab.locator("main form button[type=submit]").first.click()
    await seat.tab.get_by_text("whsec_").first.wait_for()


async def make_agent(seat: Seat) -> None:
    """Makes an agent."""
    await seat.open("/agents/new")
    await seat.tab.fill("[name=name]", "Ada")
    await seat.tab.select_option("[name=voice_id]", "en-US-ada")
    await seat.tab.fill("[name=system_prompt]", PROMPT)
    await seat.tab.fill("[name=welcome_message]", GREETING)
    await seat.press("Make the agent")
    await seat.tab.wait_for_url("**/agents/agt_*")


async def upload_list(seat: Seat, folder: Path) -> None:
    """Uploads a list with one bad row."""
    file = folder / "people.csv"
    file.write_text(_LIST, encoding="utf-8")
    await seat.open("/audiences/new")
    await seat.tab.fill("[name=name]", "Autumn")
    await seat.tab.select_option("[name=default_country]", "US")
    await seat.press("Make it")
    await seat.tab.wait_for_url("**/upload")
    await seat.tab.set_input_files("input[type=file]", file)
    await seat.press("Upload")
    await seat.tab.get_by_text("Done. 12 added, 1 refused, 0 doubles").wait_for()
    await seat.press("To the audience")
    await seat.tab.wait_for_url(re.compile(r"/audiences/aud_\w+$"))
    assert "1" in await seat.tab.locator("dl.facts").inner_text()


async def run_campaign(seat: Seat) -> None:
    """Rents a number, makes a campaign, looks at its plan, starts it and watches it to its end."""
    tab = seat.tab
    await seat.open("/numbers/rent")
    await tab.select_option("[name=country]", "US")
    await seat.press("Look for numbers")
    await seat.press("Choose")
    await seat.press("Rent it")
    await tab.wait_for_url("**/numbers/num_*")
    await seat.open("/campaigns/new")
    await tab.fill("[name=name]", "Check-ups")
    await seat.press("Look at the plan")
    await tab.wait_for_url("**/start")
    assert "12" in await tab.locator(".facts").inner_text()
    await seat.press("Start: these people are called")
    await tab.wait_for_url(re.compile(r"/campaigns/dep_\w+$"))
    await tab.locator("#board .state", has_text="completed").wait_for()
    assert "12 of 12 contacts done" in " ".join((await tab.locator("#board").inner_text()).split())


async def listen(seat: Seat) -> None:
    """Hears a call from one of its sentences on, with the transcript that follows."""
    tab = seat.tab
    await seat.open("/calls?outcome=answered")
    await tab.locator("tbody a").first.click()
    await tab.wait_for_selector("#sound")
    await tab.locator("[data-seek]").nth(1).click()
    await tab.wait_for_function("document.getElementById('sound').currentTime > 0.5")
    await tab.wait_for_selector(".turn[aria-current]")


async def talk(seat: Seat, talking: Talking, sounds: Sounds) -> None:
    """Talks to the agent with a microphone."""
    tab = seat.tab
    await seat.open("/agents")
    await tab.locator("tbody a").first.click()
    await seat.press("Talk to it")
    await seat.press("Talk to it")
    await tab.get_by_role("button", name="Begin the talk").click()
    await talking.until(lambda: any(GREETING in text for text in talking.said("agent")))
    await talking.say_until(sounds.contact[YES], lambda: any(QUESTION in text for text in talking.said("agent")))
    await tab.get_by_role("button", name="Hang up").click()
    await tab.get_by_text("Ended", exact=True).wait_for(timeout=PATIENCE_S * 1_000)


async def answer_an_assistant(seat: Seat, folder: Path) -> None:
    """Says yes to an assistant whose host cannot ask: the same call of the tool starts the campaign."""
    campaign = await draft(seat.tenant, people(3, first=40), "By the assistant")
    async with host(seat.tenant, folder, "memory", "auto", Person(None)) as assistant:
        plan = await assistant.data("preview_deployment", deployment_id=campaign.id)
        start = {"deployment_id": campaign.id, "plan_id": plan["plan_id"]}
        assert "/confirmations/cnf_" in await assistant.refused("start_deployment", **start)
        await seat.open("/confirmations")
        await seat.tab.get_by_text("By the assistant").first.wait_for()
        await seat.tab.locator("main button[value=yes]").first.click()
        await seat.tab.get_by_text("tell the assistant to go on").first.wait_for()
        await assistant.data("start_deployment", **start)
    assert (await seat.tenant.client.deployments.get(id=campaign.id)).status in ("active", "completed")


async def send_again(seat: Seat, receiver: Receiver) -> None:
    """Has an event sent again whose delivery failed."""
    tab = seat.tab
    assert set(receiver.answered) == {500}
    await seat.open("/events?type=deployment.completed")
    await tab.locator("tbody a").last.click()
    await seat.press("Send again")
    await tab.locator("main form button[type=submit]").first.click()
    await tab.wait_for_url(re.compile(r"/events/evt_\w+$"))
    for _ in range(200):
        if await tab.locator("section .state", has_text="succeeded").count():
            return
        await anyio.sleep(0.1)
        await tab.reload()
    raise AssertionError("the event was not sent again")


async def top_up(seat: Seat) -> None:
    """Pays play money into the wallet."""
    await seat.open("/wallet")
    await seat.tab.fill("[name=amount]", "25.00")
    await seat.press("Top up")
    await seat.tab.locator("main form button").first.click()
    await seat.tab.get_by_text("25.00", exact=False).first.wait_for()
    await seat.open("/wallet?type=topup")
    assert "25.0000 USD" in await seat.tab.locator("tbody").inner_text()


async def revoke(seat: Seat, secret: str) -> None:
    """Revokes the key, after reading what that does."""
    await seat.open("/settings/api-keys")
    await seat.tab.locator("tr", has_text=secret[:16]).get_by_role("link", name="Revoke").click()
    await seat.tab.locator("main form button[type=submit]").first.click()
    await seat.tab.locator("tr", has_text=secret[:16]).get_by_text("Revoked").wait_for()
