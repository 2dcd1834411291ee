"""Providers that fail in all ways that their documentation and networks allow: the call ends with its true cause."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

import anyio
import pytest

from callwright.service.telephony.media.messages import Ended, Limits, SpeechService, SpeechServices
from tests.service.telephony.media.calls import TURN_S, Line, LiveCall
from tests.service.telephony.media.providers.cartesia import Cartesia
from tests.service.telephony.media.providers.conftest import KEY
from tests.service.telephony.media.providers.deepgram import Deepgram
from tests.service.telephony.media.providers.elevenlabs import ElevenLabs
from tests.service.telephony.media.providers.imitation import Fault, Imitation, served
from tests.service.telephony.media.sentences import COST, GREETING

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]

Kind = Literal["deepgram", "elevenlabs", "cartesia"]
CANNOT_HEAR = "I'm afraid I can't hear you, so I'll end the call here. Goodbye."
NOBODY_SPEAKS = ("platform_error", "platform", ("The speaking service failed.",))
NOBODY_HEARS = ("platform_error", "platform", ("The hearing service failed.",))
SPEAKING: list[tuple[Kind, Fault]] = [
    ("elevenlabs", "refuses"),
    ("elevenlabs", "hangs"),
    ("elevenlabs", "goes"),
    ("elevenlabs", "garbage"),
    ("elevenlabs", "error"),
    ("cartesia", "refuses"),
    ("cartesia", "moved"),
    ("cartesia", "mute"),
    ("cartesia", "error"),
]
HEARING: list[tuple[Kind, Fault]] = [("deepgram", "refuses"), ("deepgram", "goes"), ("deepgram", "garbage")]


@dataclass(frozen=True)
class Outcome:
    """What became of a call."""

    ended: Ended
    words: list[tuple[str, str]]
    sound: bytes
    followed: list[str]

    @property
    def how(self) -> tuple[str, str, tuple[str, ...]]:
        return (self.ended.cause, self.ended.ended_by, self.ended.warnings)


def imitation_of(kind: Kind, line: Line) -> Imitation:
    if kind == "deepgram":
        return Deepgram(KEY, known=line.service.known)
    return (ElevenLabs if kind == "elevenlabs" else Cartesia)(KEY, known=line.service.spoken)


@asynccontextmanager
async def failing(line: Line, kind: Kind, fault: Fault) -> AsyncGenerator[tuple[LiveCall, Imitation]]:
    """A call with a provider that has a fault."""
    provider = imitation_of(kind, line)
    provider.fault = fault
    async with served(provider):
        url = provider.url + ("/tts/websocket" if kind == "cartesia" else "")
        service = SpeechService(kind=kind, url=url, key=KEY, voice="v1")
        role = "hearing" if kind == "deepgram" else "speaking"
        order = line.order(services=SpeechServices.model_validate({role: service}), limits=Limits(silence_s=6.0))
        await line.begin(order)
        async with line.joined(order) as call:
            yield call, provider


async def outcomes(line: Line, faults: list[tuple[Kind, Fault]]) -> dict[tuple[Kind, Fault], Outcome]:
    """What becomes of a call with each fault. They are made at the same time."""
    found: dict[tuple[Kind, Fault], Outcome] = {}

    async def make(kind: Kind, fault: Fault) -> None:
        async with failing(line, kind, fault) as (call, provider):
            if kind == "deepgram":
                await _talk(call)
            ended = await call.ended(90.0)
            found[kind, fault] = Outcome(ended, call.words(), bytes(call.page.sound), provider.followed)

    async with anyio.create_task_group() as tasks:
        for kind, fault in faults:
            tasks.start_soon(make, kind, fault)
    return found


async def _talk(call: LiveCall) -> None:
    """Says something three times, each time with a silence in which an answer would come."""
    await call.turn("agent", 1)
    async with anyio.create_task_group() as tasks:

        async def speak() -> None:
            for _ in range(3):
                await call.page.say(call.sounds[COST] + bytes(5 * 32_000))

        async def end() -> None:
            await call.says(CANNOT_HEAR)
            tasks.cancel_scope.cancel()

        tasks.start_soon(speak)
        tasks.start_soon(end)


@pytest.mark.requirement("PROVIDER-13")
async def test_a_call_in_which_nothing_can_be_spoken_ends_with_that_cause(line: Line) -> None:
    found = await outcomes(line, SPEAKING)
    assert {fault: outcome.how for fault, outcome in found.items()} == dict.fromkeys(SPEAKING, NOBODY_SPEAKS)
    assert {fault: outcome.words for fault, outcome in found.items()} == {fault: [] for fault in SPEAKING}
    assert [outcome.followed for outcome in found.values()] == [[]] * len(SPEAKING)
    assert KEY not in repr(line.media.reports.all)


@pytest.mark.requirement("PROVIDER-13")
async def test_who_cannot_be_heard_is_told_so_and_the_call_ends_with_that_cause(line: Line) -> None:
    found = await outcomes(line, HEARING)
    assert {fault: outcome.how for fault, outcome in found.items()} == dict.fromkeys(HEARING, NOBODY_HEARS)
    said = [("agent", GREETING), ("agent", CANNOT_HEAR)]
    assert {fault: outcome.words for fault, outcome in found.items()} == dict.fromkeys(HEARING, said)
    assert KEY not in repr(line.media.reports.all)


async def test_a_speaking_service_that_comes_back_is_asked_again(line: Line) -> None:
    async with failing(line, "elevenlabs", "goes") as (call, provider):
        with anyio.fail_after(TURN_S):
            await provider.reached.wait()
        provider.fault = None
        await call.says(GREETING)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert ended.cause == "contact_hangup"
