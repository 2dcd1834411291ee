"""Fixtures of live calls: one media process for all tests of a worker, and sentences with their sound.

Sound takes its time and a busy machine takes more, so only one test at a time makes calls.
"""

from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
import pytest_asyncio
from filelock import FileLock

from callwright.service.speech.synthesiser import Synthesiser, find_libraries
from callwright.service.speech.voices import voice
from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.closed_set import ClosedSet, resampled
from tests.service.telephony.media.media_process import MediaProcess, media_process
from tests.service.telephony.media.sentences import AGENT, CONTACT
from tests.service.telephony.media.speech_endpoint import endpoint
from tests.support.fixtures import held

_WAIT_S = 900.0


@dataclass(frozen=True)
class Sounds:
    """The sentences of both sides as 16-bit samples of 16 kHz."""

    contact: dict[str, bytes]
    agent: dict[str, bytes]

    def closed_set(self) -> ClosedSet:
        """All of them."""
        return ClosedSet(self.contact | self.agent)


async def _synthesise() -> Sounds:
    async with Synthesiser(find_libraries()) as synthesiser:

        async def said(text: str, by: str) -> bytes:
            speaker = voice(by)
            assert speaker is not None
            return resampled(await synthesiser.speak(text, speaker.espeak), 22_050)

        contact = {text: await said(text, "en-US-ben") for text in CONTACT}
        return Sounds(contact, {text: await said(text, "en-US-ada") for text in AGENT})


@pytest.fixture(scope="session")
def sounds() -> Sounds:
    """What both sides may say."""
    return anyio.run(_synthesise)


@pytest.fixture(scope="session")
def only_one(tmp_path_factory: pytest.TempPathFactory) -> FileLock:
    """Held by the worker that makes calls. The run's tests are not distributed by their groups."""
    return FileLock(tmp_path_factory.getbasetemp().parent / "live-calls.lock", timeout=_WAIT_S)


@pytest.fixture
def alone(only_one: FileLock) -> Iterator[None]:
    """No other test makes calls meanwhile, in this worker or another."""
    with only_one:
        yield


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def media(only_one: FileLock) -> AsyncGenerator[MediaProcess]:
    """A media process."""
    async with AsyncExitStack() as stack:
        with only_one:  # its start takes a core
            process = await stack.enter_async_context(held(media_process()))
        yield process


@pytest_asyncio.fixture(loop_scope="session")
async def line(media: MediaProcess, sounds: Sounds, alone: None, tmp_path: Path) -> AsyncGenerator[Line]:
    """Makes calls in the process, with services that hear and think."""
    async with held(endpoint(sounds.closed_set())) as service:
        service.spoken = sounds.agent
        yield Line(media, service, sounds.contact, tmp_path)
