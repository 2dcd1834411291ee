"""A `callwright serve` that is told to stop while somebody talks: the talk goes on to its end, and is recorded."""

import json
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from websockets.asyncio.client import ClientConnection

from callwright.client import Client
from callwright.contract.deployments.talks import Talk
from tests.service.telephony.media.conftest import alone, only_one
from tests.support.processes.programs import STOP_S, run, serving, until
from tests.support.talks import ended, page_of, silent_microphone

__all__ = ["alone", "only_one"]
pytestmark = pytest.mark.xdist_group("live-calls")
PATIENCE_S = 90.0
SILENCE_S = 19
"""Seconds of silence after which the agent asks, less what the clocks of page and process may differ."""
ANSWERS = ("Yes, speaking.", "Yes, that suits me.")
ASKED = ("Tuesday suits", "mornings suit", "the phone suits", "May suits")
PROMPT = "\n".join(f"- Ask whether {what} them." for what in ASKED)


async def link(client: Client) -> Talk:
    speaker: dict[str, Any] = {"voice_id": "en-US-ada", "language": "en-US"}
    agent = await client.agents.create(name="Ada", **speaker, system_prompt=PROMPT, welcome_message="Hello, I am Ada.")
    return await client.agents.talk(id=agent.id)


async def said(page: ClientConnection, role: str) -> str:
    """The next caption of a side."""
    with anyio.fail_after(PATIENCE_S):
        while True:
            message = await page.recv()
            if isinstance(message, str):
                found: dict[str, Any] = json.loads(message)
                assert found["type"] != "ended", found
                if found["type"] == "caption" and found["role"] == role:
                    return str(found["text"])


async def typed(page: ClientConnection, text: str) -> None:
    await page.send(json.dumps({"type": "text", "text": text}))


@pytest.mark.requirement("LINE-07")
@pytest.mark.parametrize("silences", [0, pytest.param(2, marks=pytest.mark.long)])
async def test_a_talk_goes_on_after_the_process_was_told_to_stop_and_then_the_process_ends(
    silences: int, tmp_path: Path, alone: None
) -> None:
    """After each of the silences the agent asks whether somebody is there, which takes it twenty seconds."""
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        key = run(tmp_path, "keys", "create", "--data", data, "--quiet").stdout.strip()
        async with Client(service.base_url, key) as client:
            talk = await link(client)
        async with page_of(talk) as page, anyio.create_task_group() as tasks:
            tasks.start_soon(silent_microphone, page)
            await said(page, "agent")
            service.process.send_signal(signal.SIGTERM)
            await to_thread.run_sync(wait_for_words, service.log, "waits for 1 call to end")
            for answer in ANSWERS:
                await typed(page, answer)
                await said(page, "agent")
            for _ in range(silences):
                await said(page, "agent")
                await typed(page, "Yes, I am here.")
                await said(page, "agent")
            assert service.process.poll() is None
            await page.send(json.dumps({"type": "hang_up"}))
            tasks.cancel_scope.cancel()
        assert await to_thread.run_sync(service.process.wait, STOP_S) == 0
    with serving(tmp_path, data) as again:
        async with Client(again.base_url, key) as client:
            call = await client.calls.get(call_uuid=talk.call_id)
            turns = (await client.calls.get_transcript(call_uuid=talk.call_id)).turns
    assert (call.outcome, call.hangup_cause) == ("answered", "contact_hangup")
    assert [turn.text for turn in turns if turn.role == "contact"] == [*ANSWERS, *["Yes, I am here."] * silences]
    assert call.duration_seconds >= silences * SILENCE_S


def wait_for_words(log: Path, words: str) -> None:
    until(lambda: words in log.read_text(encoding="utf-8"), f"it says: {words}")


async def test_a_second_signal_hangs_up_at_once_and_the_call_has_its_true_cause(tmp_path: Path, alone: None) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        key = run(tmp_path, "keys", "create", "--data", data, "--quiet").stdout.strip()
        async with Client(service.base_url, key) as client:
            talk = await link(client)
        async with page_of(talk) as page, anyio.create_task_group() as tasks:
            tasks.start_soon(silent_microphone, page)
            await said(page, "agent")
            service.process.send_signal(signal.SIGTERM)
            await to_thread.run_sync(wait_for_words, service.log, "waits for 1 call to end")
            service.process.send_signal(signal.SIGTERM)
            with anyio.fail_after(PATIENCE_S):
                await page.wait_closed()
            tasks.cancel_scope.cancel()
        assert await to_thread.run_sync(service.process.wait, STOP_S) == 0
    with serving(tmp_path, data) as again:
        async with Client(again.base_url, key) as client:
            call = await ended(client, talk.call_id)
    assert call.hangup_cause == "platform_error"
