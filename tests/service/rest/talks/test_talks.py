"""Links to talks: what they open, how often and for how long, and what a talk is for the rest of the service."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from websockets.exceptions import InvalidStatus

from callwright.client.transport import httpx
from callwright.service.platform.clock.clock import milliseconds
from callwright.service.settings import InstalledService, LineSettings, ServiceSettings, SpeechSettings
from tests.support import resources
from tests.support.clock_set_by_test import Wall
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service
from tests.support.talks import answering, closed_with, ended, page_of, silent_microphone

ANSWERS = ("Yes, speaking.", "Yes, that suits me.")
"""What the person types to the greeting, and to the question."""
PROMPT = "Ask whether Tuesday at ten suits them."
WORDS: dict[str, Any] = {"first_name": "Ada"}


@pytest.mark.xdist_group("live-calls")
@pytest.mark.requirement("LINE-06")
async def test_a_person_types_with_an_agent_and_the_call_is_kept_like_every_other(
    database_url: str, tmp_path: Path, alone: None
) -> None:
    async with open_service(database_url, tmp_path) as tenant, answering(tenant) as root:
        agent = await resources.agent(tenant, system_prompt=PROMPT, welcome_message="Hello, this is Ada.")
        talk = await tenant.client.agents.talk(id=agent.id)
        heard = 0
        async with page_of(talk, origin=root) as page, anyio.create_task_group() as tasks:
            tasks.start_soon(silent_microphone, page)
            async for message in page:
                if isinstance(message, bytes):
                    heard += len(message)
                    continue
                said = json.loads(message)
                if said["type"] == "ended":
                    break
                if said["type"] == "caption" and said["role"] == "agent":
                    answer = ANSWERS["Tuesday" in said["text"]]
                    await page.send(json.dumps({"type": "text", "text": answer}))
            tasks.cancel_scope.cancel()
        assert heard > 32_000  # more than a second of the agent's voice
        call = await ended(tenant.client, talk.call_id)
        assert (call.call_type, call.simulated, call.outcome, call.cost and call.cost.amount) == (
            "web",
            False,
            "answered",
            "0.000000",
        )
        transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
        assert "Yes, that suits me." in [turn.text for turn in transcript.turns if turn.role == "contact"]
        assert {turn.source for turn in transcript.turns if turn.role == "contact"} == {"human"}
        kept = await tenant.ended(talk.deployment_id)
        assert (kept.call_type, kept.status, kept.status_reason) == ("web", "completed", "talk_ended")
        assert (kept.stats.attempts, kept.stats.answered) == (1, 1)
        again = page_of(talk, origin=root)
        async with again as page:
            assert await closed_with(page) == 4401


@pytest.mark.xdist_group("live-calls")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_who_only_types_is_said_goodbye_to_although_no_sound_ever_comes(
    database_url: str, tmp_path: Path, alone: None
) -> None:
    hears = SpeechSettings(hearing=InstalledService(kind="openai", url="http://127.0.0.1:9/v1"))
    settings = ServiceSettings(data=tmp_path, database_url=database_url, speech=hears)
    async with open_service(database_url, tmp_path, settings=settings) as tenant, answering(tenant) as root:
        agent = await resources.agent(tenant, system_prompt=PROMPT, welcome_message="Hello, this is Ada.")
        talk = await tenant.client.agents.talk(id=agent.id)
        said: list[str] = []
        with anyio.fail_after(60):
            async with page_of(talk, origin=root) as page:
                async for message in page:
                    if isinstance(message, bytes):
                        continue
                    found: dict[str, Any] = json.loads(message)
                    if found["type"] == "ended":
                        break
                    if found["type"] == "caption" and found["role"] == "agent":
                        said.append(found["text"])
                        await anyio.sleep(5)  # the time in which somebody types
                        await page.send(json.dumps({"type": "text", "text": ANSWERS["Tuesday" in said[-1]]}))
        call = await ended(tenant.client, talk.call_id)
    assert (call.outcome, call.ended_by, call.hangup_cause) == ("answered", "agent", "normal_clearing")
    assert call.duration_seconds > 10  # longer than a call may be without any sound


async def test_a_link_opens_nothing_with_another_token_or_from_another_page(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path) as tenant, answering(tenant):
        talk = await tenant.client.agents.talk(id=(await resources.agent(tenant)).id, variables=WORDS)
        nobody = talk.model_copy(update={"url": talk.url.replace(talk.call_id, "cal_%00")})
        for page_opened in (page_of(talk, token="tlk_wrong"), page_of(nobody)):
            async with page_opened as page:
                assert await closed_with(page) == 4401
        with pytest.raises(InvalidStatus) as caught:
            async with page_of(talk, origin="https://elsewhere.example"):
                pass
        assert caught.value.response.status_code == 403
        await tenant.client.deployments.cancel(id=talk.deployment_id)


async def test_a_link_that_nobody_opens_ends_after_a_minute_and_costs_nothing(
    database_url: str, tmp_path: Path
) -> None:
    wall = Wall()
    async with open_service(database_url, tmp_path, clock=wall.clock()) as tenant, answering(tenant):
        talk = await tenant.client.agents.talk(id=(await resources.agent(tenant)).id, variables=WORDS)
        made_ms = tenant.services.clock.now_ms()
        assert (
            timedelta(seconds=55)
            < timedelta(milliseconds=milliseconds(talk.expires_at) - made_ms)
            <= timedelta(seconds=60)
        )
        wall.ahead_ms += 61_000
        async with page_of(talk) as page:
            assert await closed_with(page) == 4401
        call = await ended(tenant.client, talk.call_id)
        assert (call.outcome, call.hangup_cause) == ("no_answer", "no_answer")
        kept = await tenant.ended(talk.deployment_id)
        assert (kept.status, kept.stats.exhausted) == ("completed", 1)


async def test_a_talk_can_be_ended_and_is_nothing_that_a_campaign_is(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path) as tenant:
        client = tenant.client
        talk = await client.agents.talk(id=(await resources.agent(tenant)).id, variables=WORDS)
        for act in (client.deployments.pause, client.deployments.start, client.deployments.preview):
            async with refusal(400, "invalid_field", "id"):
                await act(id=talk.deployment_id)
        async with refusal(400, "invalid_field", "id"):
            await client.deployments.clone(id=talk.deployment_id, name="Copy")
        async with refusal(400, "invalid_field", "id"):
            await client.deployments.update(id=talk.deployment_id, name="Other")
        await client.calls.hang_up(call_uuid=talk.call_id)
        call = await ended(tenant.client, talk.call_id)
        assert (call.outcome, call.hangup_cause) == ("failed", "originator_cancel")
        assert (await tenant.ended(talk.deployment_id)).stats.cancelled == 1
        listed = (await client.deployments.list(call_type=["web"])).data
        assert [one.id for one in listed] == [talk.deployment_id]
        assert (await client.deployments.list(call_type=["outbound"])).data == []


async def test_words_that_an_agent_needs_have_to_be_given_and_few_talks_are_open_at_once(tenant: Tenant) -> None:
    agent = await resources.agent(tenant)
    async with refusal(400, "invalid_field", "variables") as kept:
        await tenant.client.agents.talk(id=agent.id)
    assert "{{first_name}}" in kept[0].message
    for _ in range(10):
        await tenant.client.agents.talk(id=agent.id, variables=WORDS)
    async with refusal(422, "plan_limit_reached") as kept:
        await tenant.client.agents.talk(id=agent.id, variables=WORDS)
    assert kept[0].details == {"limit": 10, "current": 10}


async def test_without_lines_a_talk_is_refused_with_what_to_set(database_url: str, tmp_path: Path) -> None:
    settings = ServiceSettings(data=tmp_path, database_url=database_url, lines=LineSettings(count=0))
    async with open_service(database_url, tmp_path, settings=settings) as tenant:
        async with refusal(422, "lines_unavailable") as kept:
            await tenant.client.agents.talk(id=(await resources.agent(tenant)).id, variables=WORDS)
        assert "CALLWRIGHT_LINES" in kept[0].message


async def test_while_the_process_lets_its_calls_end_a_talk_is_refused_with_a_sentence(tenant: Tenant) -> None:
    agent = await resources.agent(tenant)
    await tenant.service.drain(0)
    async with refusal(422, "lines_unavailable") as kept:
        await tenant.client.agents.talk(id=agent.id, variables=WORDS)
    assert "is being stopped" in kept[0].message


async def test_the_page_runs_only_its_own_scripts_and_tells_no_other_host(tenant: Tenant) -> None:
    async with answering(tenant) as root:
        async with httpx.AsyncClient() as client:
            page = await client.get(f"{root}/talk/cal_1")
            sound = await client.get(f"{root}/talk/sound.js")
        assert page.status_code == sound.status_code == 200
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "connect-src 'self'" in policy
        assert sound.headers["content-type"].startswith("text/javascript")
        assert "https://" not in page.text.replace("http://www.w3.org/2000/svg", "")
