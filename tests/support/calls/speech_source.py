"""A speech source that needs no library: a square wave whose length follows from the text and the rate."""

import math
from array import array

import anyio

from callwright.service.speech.encoding import encode_mp3
from callwright.service.speech.recording_content import RecordingContent
from callwright.service.speech.synthesiser import SAMPLE_RATE, SpeechUnavailable
from callwright.service.speech.voices import EspeakVoice
from callwright.service.telephony.engine import Turn


class SquareWave:
    """`seconds_per_char` at 165 words per minute, in proportion at other rates. Counts its requests."""

    def __init__(self, *, seconds_per_char: float = 0.05) -> None:
        self.requests = 0
        self.fails = False
        self.gate: anyio.Event | None = None
        self._seconds_per_char = seconds_per_char

    async def speak(self, text: str, voice: EspeakVoice, *, rate_wpm: int | None = None) -> bytes:
        self.requests += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.fails:
            raise SpeechUnavailable("There is no speech in this test.")
        seconds = len(text) * self._seconds_per_char * 165 / (rate_wpm or voice.rate_wpm)
        length = round(seconds * SAMPLE_RATE)
        return (array("h", [9000] * 50 + [-9000] * 50) * (length // 100 + 1))[:length].tobytes()


def plan_of(*texts: str, call_id: str = "cal_1", seed: str = "seed", language: str = "en-US") -> RecordingContent:
    """A call in which agent and contact take turns of one second each, with half a second between them."""
    turns = tuple(
        Turn(
            index=index,
            speaker="agent" if index % 2 == 0 else "contact",
            text=text,
            start_s=1.5 * index,
            end_s=1.5 * index + 1,
            language=language,
        )
        for index, text in enumerate(texts)
    )
    return RecordingContent(
        call_id=call_id,
        duration_s=1.5 * len(texts) + 0.5,
        turns=turns,
        agent_voice_id="en-US-ada",
        agent_language="en-US",
        seed=seed,
    )


def mp3_tone(seconds: float) -> bytes:
    """A tone on the left."""
    samples = array("h")
    for number in range(round(seconds * SAMPLE_RATE)):
        samples.extend((round(8_000 * math.sin(number / 7)), 0))
    return encode_mp3(samples, title="A tone")
