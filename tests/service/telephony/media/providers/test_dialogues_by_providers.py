"""Live calls that Deepgram hears, and in which ElevenLabs or Cartesia speaks, against imitations of them."""

import pytest

from callwright.service.telephony.media.messages import SpeechService, SpeechServices
from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.providers.cartesia import Cartesia
from tests.service.telephony.media.providers.deepgram import Deepgram
from tests.service.telephony.media.providers.elevenlabs import ElevenLabs
from tests.service.telephony.media.sentences import COST, GREETING, PRICE, QUESTION, YES

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]


@pytest.mark.requirement("PROVIDER-12")
async def test_deepgram_hears_and_is_answered(line: Line, deepgram: Deepgram) -> None:
    hearing = SpeechService(kind="deepgram", url=deepgram.url, key=deepgram.key, model="nova-3-phonecall")
    async with line.call(services=SpeechServices(hearing=hearing)) as call:
        await call.turn("agent", 1)
        await call.say(COST)
        await call.turn("agent", 2)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert call.words() == [("agent", GREETING), ("contact", COST), ("agent", f"{PRICE} {QUESTION}")]
    assert call.turns()[1].source == "stt"
    assert ended.warnings == ()
    asked = deepgram.asked[0]
    assert (asked["model"], asked["language"]) == ("nova-3-phonecall", "en-US")
    assert {each["type"] for each in deepgram.told} >= {"Finalize"}
    assert len(deepgram.asked) == 1


@pytest.mark.requirement("PROVIDER-12")
async def test_elevenlabs_speaks_and_its_words_are_known(line: Line, elevenlabs: ElevenLabs) -> None:
    speaking = SpeechService(kind="elevenlabs", url=elevenlabs.url, key=elevenlabs.key, voice="v1", model="eleven_x")
    async with line.call(services=SpeechServices(speaking=speaking)) as call:
        turn = await call.turn("agent", 1)
        await call.page.send(type="text", text=YES)
        second = await call.turn("agent", 2)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert (turn.text, turn.interrupted, second.text) == (GREETING, False, QUESTION)
    assert ended.warnings == ()
    assert elevenlabs.voices == ["v1"]


@pytest.mark.requirement("PROVIDER-12")
async def test_cartesia_speaks_and_its_words_are_known(line: Line, cartesia: Cartesia) -> None:
    speaking = SpeechService(kind="cartesia", url=f"{cartesia.url}/tts/websocket", key=cartesia.key, voice="v1")
    async with line.call(services=SpeechServices(speaking=speaking)) as call:
        turn = await call.turn("agent", 1)
        await call.page.send(type="text", text=YES)
        second = await call.turn("agent", 2)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert (turn.text, turn.interrupted, second.text) == (GREETING, False, QUESTION)
    assert ended.warnings == ()
