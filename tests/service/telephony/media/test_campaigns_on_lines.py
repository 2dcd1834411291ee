"""Campaigns that are really spoken: dialler, legs, line host, media process and people with voices."""

from functools import partial
from pathlib import Path

import anyio
import pytest

from callwright.server.mcp.resources.sound import frames_of
from callwright.service.telephony.carriers.media_calls import always
from callwright.service.telephony.carriers.opening import Opening
from callwright.service.telephony.carriers.websocket import WebsocketCarrier
from callwright.service.telephony.engine import Turn
from callwright.service.telephony.lines.media_processes import MediaProcesses
from callwright.service.telephony.media.messages import SpeechService, SpeechServices
from tests.service.telephony.media.caller import Caller, caller
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.recordings import not_recorded, read_recording
from tests.service.telephony.media.sentences import GREETING, PROMPT, QUESTION, STOP, YES
from tests.service.telephony.media.speech_endpoint import endpoint
from tests.support.campaigns import ONCE, PLAIN, calls_of, make_agent, people, phone, started
from tests.support.scripted_carrier import driven_on_lines, host_of
from tests.support.service import open_service

pytestmark = [pytest.mark.xdist_group("live-calls")]
ANSWERS = {phone(0): YES, phone(1): STOP}
MOST_SAYINGS = 3
UNDERSTOOD_WITHIN_S = 6.0


async def answered(opening: Opening, sounds: Sounds) -> None:
    """A person who hears the greeting to its end, answers, and answers once more if the agent asks something."""
    answer = ANSWERS[opening.call.to]
    async with caller(opening.port, opening.token) as page:
        await _caption(page, GREETING)
        await _understood(page, answer, sounds)
        if answer == YES:
            await _caption(page, QUESTION)
            await page.say(sounds.contact[YES])
        await page.closed(60)


async def _understood(page: Caller, text: str, sounds: Sounds) -> None:
    """Says it, and once more whenever it is not understood: a busy machine may not hear it."""
    for _ in range(MOST_SAYINGS):
        await page.say(sounds.contact[text])
        with anyio.move_on_after(UNDERSTOOD_WITHIN_S):
            await _caption(page, text)
            return
    raise AssertionError(f"{text} was not understood: {page.of('caption')}")


async def _caption(page: Caller, text: str) -> None:
    await page.wait_for(lambda message: message["type"] == "caption" and message["text"].startswith(text))


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_people_answer_a_campaign_and_what_they_say_decides(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    media = MediaProcesses(1)
    async with (
        open_service(database_url, tmp_path, workers=False) as tenant,
        endpoint(sounds.closed_set()) as service,
        anyio.create_task_group() as tasks,
    ):
        hears = SpeechServices(hearing=SpeechService(kind="openai", url=service.url))
        services = tenant.services
        folder = services.recordings.lines.folder
        loopback = WebsocketCarrier(
            "scripted", media, always(hears), partial(answered, sounds=sounds), recordings=folder
        )
        host = host_of(tenant, loopback, lines=2, is_ready=media.has_room)
        tasks.start_soon(media.run)
        tasks.start_soon(host.run)
        agent = await make_agent(tenant, system_prompt=PROMPT, welcome_message=GREETING)
        made = await started(tenant, people(2), agent_id=agent.id, retry_policy=ONCE, compliance=PLAIN)
        await driven_on_lines(tenant, made.id)
        calls = {call.to: call for call in await calls_of(tenant, made.id)}
        words: dict[str, list[tuple[str, str]]] = {}
        for to, call in calls.items():
            transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
            words[to] = [(turn.role, turn.text) for turn in transcript.turns]
            answers = [turn.latency_ms for turn in transcript.turns if turn.latency_ms is not None]
            assert {turn.role for turn in transcript.turns if turn.latency_ms is not None} == {"agent"}
            assert all(
                each.total == each.endpointing + each.hearing + each.thinking + each.speaking for each in answers
            )
            assert call.latency_p95_ms == max(each.total for each in answers)
        dispositions = {to: call.disposition for to, call in calls.items()}
        assert dispositions == {phone(0): "goal_met", phone(1): "do_not_call"}, words
        assert words[phone(0)][0] == words[phone(1)][0] == ("agent", GREETING)
        assert ("agent", QUESTION) in words[phone(0)][words[phone(0)].index(("contact", YES)) :]
        assert ("contact", STOP) in words[phone(1)]
        listed = [entry.source_call_id async for entry in tenant.client.do_not_call.list()]
        assert listed == [calls[phone(1)].id]
        for call in calls.values():
            turns = (await tenant.client.calls.get_transcript(call_uuid=call.id)).turns
            async with tenant.client.calls.get_recording(call_uuid=call.id, format="wav") as download:
                (path := tmp_path / f"{call.id}.wav").write_bytes(await download.read(5_000_000))
            said = [
                Turn(turn.index, turn.role, turn.text, turn.start_seconds, turn.end_seconds, turn.language)
                for turn in turns[:2]
            ]
            assert not_recorded(read_recording(path), said, sounds.closed_set()) == []
            async with tenant.client.calls.get_recording(call_uuid=call.id) as download:
                mp3 = await download.read(5_000_000)
            assert frames_of(mp3).duration_s == pytest.approx(read_recording(path).counted / 8_000, abs=0.2)
        tasks.cancel_scope.cancel()
