"""What calls use of services that charge, measured against what an imitation of them was sent and answered."""

from typing import Any

import pytest

from callwright.service.telephony.media.messages import SpeechService, SpeechServices
from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.sentences import GREETING, QUESTION, YES
from tests.service.telephony.media.usage import used

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]
TOKENS: dict[str, Any] = {
    "prompt_tokens": 1_200,
    "completion_tokens": 9,
    "total_tokens": 1_209,
    "prompt_tokens_details": {"cached_tokens": 1_024},
}


@pytest.mark.requirement("COST-08")
async def test_sound_tokens_and_characters_are_those_that_the_services_were_sent_and_answered(line: Line) -> None:
    service = line.service
    service.usage, service.answers = TOKENS, [QUESTION]
    del service.heard_s[:], service.spoken_texts[:]
    own = SpeechService(kind="openai", url=service.url, key="k", is_own=True)
    services = SpeechServices(
        hearing=SpeechService(kind="openai", url=service.url, model="whisper-1"),
        thinking=own,
        speaking=SpeechService(kind="openai", url=service.url, key="k"),
    )
    async with line.call(services=services) as call:
        await call.turn("agent", 1)
        await call.say(YES)
        await call.turn("agent", 2)
        await call.page.send(type="hang_up")
        await call.ended()
    found = used(call)
    assert found["stt", "second"].quantity == pytest.approx(sum(service.heard_s), abs=0.05)
    assert (found["stt", "second"].provider, found["stt", "second"].model) == ("openai", "whisper-1")
    assert found["tts", "character"].quantity == sum(map(len, service.spoken_texts))
    assert service.spoken_texts[0] == GREETING
    chats = len(service.chats)
    assert {unit: (one.quantity, one.is_own) for (item, unit), one in found.items() if item == "llm"} == {
        "input_token": (176 * chats, True),
        "cached_input_token": (1_024 * chats, True),
        "output_token": (9 * chats, True),
    }
    assert found["llm", "input_token"].model == "gpt-4.1-mini"


async def test_what_is_built_in_uses_nothing(line: Line) -> None:
    async with line.call(hears=False) as call:
        await call.turn("agent", 1)
        await call.page.send(type="hang_up")
        await call.ended()
    assert used(call) == {}
