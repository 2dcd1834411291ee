"""Fixtures: the imitations of providers, each served for one test."""

from collections.abc import AsyncGenerator

import pytest_asyncio

from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.providers.cartesia import Cartesia
from tests.service.telephony.media.providers.deepgram import Deepgram
from tests.service.telephony.media.providers.elevenlabs import ElevenLabs
from tests.service.telephony.media.providers.imitation import served
from tests.support.fixtures import held

KEY = "key-of-the-provider-0123456789"


@pytest_asyncio.fixture(loop_scope="session")
async def deepgram(line: Line) -> AsyncGenerator[Deepgram]:
    provider = Deepgram(KEY, known=line.service.known)
    async with held(served(provider)):
        yield provider


@pytest_asyncio.fixture(loop_scope="session")
async def elevenlabs(line: Line) -> AsyncGenerator[ElevenLabs]:
    provider = ElevenLabs(KEY, known=line.service.spoken)
    async with held(served(provider)):
        yield provider


@pytest_asyncio.fixture(loop_scope="session")
async def cartesia(line: Line) -> AsyncGenerator[Cartesia]:
    provider = Cartesia(KEY, known=line.service.spoken)
    async with held(served(provider)):
        yield provider
