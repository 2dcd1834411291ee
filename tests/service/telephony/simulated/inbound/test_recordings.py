import anyio
import pytest

from callwright.service.speech.recording_content import RecordingContent
from callwright.service.speech.rendering import render
from callwright.service.speech.synthesiser import SAMPLE_RATE
from callwright.service.telephony.answering import Answering, Wait
from callwright.service.telephony.engine import CallResult, Turn
from callwright.service.telephony.simulated.network import simulate
from tests.support.calls.simulated_callers import incoming
from tests.support.calls.speech_source import SquareWave

AGENT, CALLER = 0, 1


def energy(pcm: list[int], turn: Turn, channel: int) -> int:
    first, last = (2 * round(second * SAMPLE_RATE) + channel for second in (turn.start_s, turn.end_s))
    return sum(abs(sample) for sample in pcm[first:last:2])


@pytest.mark.requirement("INSIM-01", "INSIM-05")
@pytest.mark.parametrize(
    ("answering", "steering"),
    [
        (Answering("agent", wait=Wait(2, 300.0, 70.0)), {"outcome": "answered", "intent": "asks_first"}),
        (Answering("voicemail"), {"outcome": "voicemail_left"}),
        (Answering("forward", forward_to="+12025550102"), {}),
    ],
)
def test_a_recording_has_agent_and_announcements_on_the_left_and_the_caller_on_the_right(
    answering: Answering, steering: dict[str, str]
) -> None:
    result = simulate(incoming(answering, steering=steering))
    pcm = anyio.run(_rendered, result)
    assert len(pcm) == 2 * round(result.duration_s * SAMPLE_RATE)
    for turn in result.turns:
        own, other = (AGENT, CALLER) if turn.speaker == "agent" else (CALLER, AGENT)
        assert energy(pcm, turn, own) > 0, turn.text
        assert turn.interrupted or energy(pcm, turn, other) == 0, turn.text


async def _rendered(result: CallResult) -> list[int]:
    content = RecordingContent(
        call_id=result.call_id,
        duration_s=result.duration_s,
        turns=result.turns,
        agent_voice_id="en-US-ada",
        agent_language="en-US",
        seed="seed",
    )
    return list((await render(content, SquareWave())).pcm)
