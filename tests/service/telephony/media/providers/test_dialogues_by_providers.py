"""Live calls that Deepgram hears, and in which ElevenLabs or Cartesia speaks, against imitations of them that bill."""

import pytest

from callwright.service.telephony.engine import Turn
from callwright.service.telephony.media.messages import SpeechService, SpeechServices
from tests.service.telephony.media.calls import Line, LiveCall
from tests.service.telephony.media.providers.cartesia import Cartesia
from tests.service.telephony.media.providers.deepgram import Deepgram
from tests.service.telephony.media.providers.elevenlabs import ElevenLabs
from tests.service.telephony.media.sentences import COST, GREETING, PRICE, QUESTION, YES
from tests.service.telephony.media.usage import used

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]


async def interrupted_dialogue(call: LiveCall) -> tuple[Turn, bytes]:
    """The greeting is interrupted, and then answered. The greeting as it was said, and the sound of the answer."""
    await call.page.heard(0.8)
    await call.page.send(type="text", text=YES)
    greeting = await call.turn("agent", 1)
    before = len(call.page.sound)
    await call.says(QUESTION)
    answer = bytes(call.page.sound[before:])
    await call.page.send(type="text", text=COST)
    await call.says(f"{PRICE} {QUESTION}")
    await call.page.send(type="hang_up")
    ended = await call.ended()
    assert ended.warnings == ()
    return greeting, answer


def said_in_part(turn: Turn) -> bool:
    """Whether some of the greeting was said, and not all."""
    return turn.interrupted and GREETING.startswith(turn.text) and 0 < len(turn.text) < len(GREETING)


@pytest.mark.requirement("PROVIDER-12", "COST-08")
async def test_deepgram_hears_what_is_said_and_bills_what_the_call_used(line: Line, deepgram: Deepgram) -> None:
    hearing = SpeechService(kind="deepgram", url=deepgram.url, key=deepgram.key, model="nova-3-phonecall")
    async with line.call(services=SpeechServices(hearing=hearing)) as call:
        await call.turn("agent", 1)
        await call.say(COST)
        await call.turn("agent", 2)
        await call.say(YES)
        await call.turn("contact", 2)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert call.words()[:3] == [("agent", GREETING), ("contact", COST), ("agent", f"{PRICE} {QUESTION}")]
    assert ("contact", YES) in call.words()
    assert [turn.source for turn in call.turns() if turn.speaker == "contact"] == ["stt", "stt"]
    assert ended.warnings == ()
    assert (deepgram.asked[0]["model"], deepgram.asked[0]["language"]) == ("nova-3-phonecall", "en-US")
    assert "Finalize" in [each["type"] for each in deepgram.told]
    assert len(deepgram.asked) == 1
    heard = used(call)["stt", "second"]
    assert heard.quantity == pytest.approx(deepgram.billed, abs=0.5)
    assert (heard.provider, heard.model, heard.is_own) == ("deepgram", "nova-3-phonecall", False)


@pytest.mark.requirement("PROVIDER-12", "COST-08")
async def test_elevenlabs_speaks_until_it_is_interrupted_and_bills_what_the_call_used(
    line: Line, elevenlabs: ElevenLabs
) -> None:
    speaking = SpeechService(kind="elevenlabs", url=elevenlabs.url, key=elevenlabs.key, voice="v1", is_own=True)
    async with line.call(services=SpeechServices(speaking=speaking)) as call:
        greeting, answer = await interrupted_dialogue(call)
    assert said_in_part(greeting)
    assert line.service.known.recognise(answer) == QUESTION
    asked = elevenlabs.asked[0]
    assert (elevenlabs.voices, asked["model_id"], asked["language_code"]) == (["v1"], "eleven_flash_v2_5", "en")
    assert len(elevenlabs.closed_contexts) >= 3
    spoken = used(call)["tts", "character"]
    assert spoken.quantity == elevenlabs.billed == sum(map(len, elevenlabs.spoken))
    assert (spoken.provider, spoken.model, spoken.is_own) == ("elevenlabs", "eleven_flash_v2_5", True)


@pytest.mark.requirement("PROVIDER-12", "COST-08")
async def test_cartesia_speaks_until_it_is_interrupted_and_bills_what_the_call_used(
    line: Line, cartesia: Cartesia
) -> None:
    url = f"{cartesia.url}/tts/websocket"
    speaking = SpeechService(kind="cartesia", url=url, key=cartesia.key, voice="v1", model="sonic-2")
    async with line.call(services=SpeechServices(speaking=speaking)) as call:
        greeting, answer = await interrupted_dialogue(call)
    assert said_in_part(greeting)
    assert line.service.known.recognise(answer) == QUESTION
    first = cartesia.told[0]
    assert (first["voice"], first["model_id"]) == ({"mode": "id", "id": "v1"}, "sonic-2")
    assert first["language"] in ("en", "en-US")
    assert cartesia.cancelled == [first["context_id"]]
    spoken = used(call)["tts", "character"]
    assert spoken.quantity == cartesia.billed == sum(map(len, cartesia.spoken))
    assert (spoken.provider, spoken.model, spoken.is_own) == ("cartesia", "sonic-2", False)
