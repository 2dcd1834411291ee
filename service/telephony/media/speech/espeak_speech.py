"""espeak-ng as a speaking service of the pipeline. It says where each word ends in the sound."""

# Pipecat passes keywords on without their types.
# pyright: reportUnknownMemberType=false

import sys
from array import array
from collections.abc import AsyncGenerator

from pipecat.frames.frames import ErrorFrame, Frame, TTSAudioRawFrame, TTSTextFrame
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.settings import TTSSettings
from pipecat.services.tts_service import TTSService
from pipecat.utils.text.base_text_aggregator import TextType

from callwright.service.speech.synthesiser import MAX_TEXT_CHARS, SAMPLE_RATE, SpeechUnavailable, Synthesiser
from callwright.service.speech.voices import agent_voice
from callwright.service.telephony.engine import AgentSnapshot
from callwright.service.telephony.media.turns.frames import SpokenWord, TurnBegins

_PIECE = SAMPLE_RATE // 10


class EspeakSpeech(TTSService):
    """Speaks with the agent's voice, or with another one of the language of the turn."""

    def __init__(self, synthesiser: Synthesiser, agent: AgentSnapshot) -> None:
        super().__init__(
            sample_rate=SAMPLE_RATE,
            push_start_frame=True,
            push_stop_frames=True,
            max_consecutive_zero_audio_contexts=0,  # a text without a word that can be spoken is no failure
            settings=TTSSettings(model=None, voice=None, language=None),
        )
        self._synthesiser = synthesiser
        self._agent = agent
        self._spoken_language = agent.language

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Takes the language of a turn from where it begins."""
        if isinstance(frame, TurnBegins):
            self._spoken_language = frame.language
        await super().process_frame(frame, direction)

    async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Hands a frame on. The words stand for the sentence in the context, so that it has only what was said."""
        if isinstance(frame, TTSTextFrame) and not isinstance(frame, SpokenWord):
            frame.append_to_context = False
        await super().push_frame(frame, direction)

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        """The sound of a text, each word behind its own."""
        agent = self._agent
        voice = agent_voice(agent.voice_id, agent_language=agent.language, spoken_language=self._spoken_language)
        try:
            speech = await self._synthesiser.speak_words(text[:MAX_TEXT_CHARS], voice.espeak)
        except SpeechUnavailable as error:
            yield ErrorFrame(error=error.reason)
            return
        samples = array("h", speech.samples)
        if sys.byteorder == "big":
            samples.byteswap()
        ends = [*(word.sample for word in speech.words[1:]), len(samples)]
        done = 0
        for number, (word, end) in enumerate(zip(speech.words, ends, strict=False), 1):
            for start in range(done, end, _PIECE):
                pcm = samples[start : min(start + _PIECE, end)].tobytes()
                yield TTSAudioRawFrame(pcm, SAMPLE_RATE, 1, context_id=context_id)
            done = max(done, end)
            gap = " " if number == len(speech.words) else ""  # the text is a sentence, and another may follow
            spoken = SpokenWord(f"{word.text}{gap}", TextType.WORD, context_id=context_id)
            spoken.includes_inter_frame_spaces = True
            spoken.will_be_spoken = True
            yield spoken
