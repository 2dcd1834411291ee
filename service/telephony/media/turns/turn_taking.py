"""When the other side takes and ends its turn."""

# Pipecat passes keywords on without their types.
# pyright: reportUnknownMemberType=false

from dataclasses import dataclass
from typing import Protocol

from pipecat.audio.turn.smart_turn.base_smart_turn import SmartTurnParams
from pipecat.audio.turn.smart_turn.local_smart_turn_v3 import LocalSmartTurnAnalyzerV3
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.turns.types import ProcessFrameResult
from pipecat.turns.user_start.base_user_turn_start_strategy import BaseUserTurnStartStrategy
from pipecat.turns.user_stop.speech_timeout_user_turn_stop_strategy import SpeechTimeoutUserTurnStopStrategy
from pipecat.turns.user_stop.turn_analyzer_user_turn_stop_strategy import TurnAnalyzerUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies

from callwright.service.telephony.media.sound.sound_clock import seconds_of

FEWEST_WORDS = 2
"""What interrupts the agent has as many words; one word, such as "yes", is an aside."""
_SPEECH_OF_FEWEST_WORDS_S = 0.5
"""Speech of this length, after it was recognised as speech, has as many words."""
_LONGEST_PAUSE_S = 2.0
"""Silence that ends a turn even if its sentence sounds unfinished."""


class Listening(Protocol):
    """Is told what is heard as it is heard."""

    @property
    def yields(self) -> bool:
        """Whether the agent lets itself be interrupted. It does not while it leaves a message on a machine."""
        ...

    def transcribed(self, text: str) -> None:
        """Words were recognised. They belong to a turn, or to an aside."""
        ...

    async def aside(self, text: str) -> None:
        """Words were said while the agent spoke, too few to interrupt it."""
        ...


class BargeIn(BaseUserTurnStartStrategy):
    """The other side takes its turn with any speech while the agent is silent, and with enough words while it speaks.

    `hears_late`: words are recognised only when a sentence is over, so the length of the speech counts meanwhile.
    """

    def __init__(self, listening: Listening, *, hears_late: bool) -> None:
        super().__init__()
        self._listening = listening
        self._hears_late = hears_late
        self._agent_speaks = False
        self._speech_s: float | None = None

    async def handle_user_turn_started(self) -> None:
        """The agent is silent from now on."""
        self._agent_speaks = False
        self._speech_s = None

    async def process_frame(self, frame: Frame) -> ProcessFrameResult:
        """Looks whether a turn starts."""
        match frame:
            case BotStartedSpeakingFrame():
                self._agent_speaks = True
            case BotStoppedSpeakingFrame():
                self._agent_speaks = False
                if self._speech_s is not None:
                    return await self._start()
            case VADUserStartedSpeakingFrame():
                self._speech_s = 0.0
                if not self._agent_speaks:
                    return await self._start()
            case VADUserStoppedSpeakingFrame():
                self._speech_s = None
            case InputAudioRawFrame() if self._speech_s is not None:
                self._speech_s += seconds_of(frame.audio)
                if self._hears_late and self._agent_speaks and self._speech_s >= _SPEECH_OF_FEWEST_WORDS_S:
                    return await self._start()
            case InterimTranscriptionFrame() if len(frame.text.split()) >= FEWEST_WORDS:
                return await self._start()
            case TranscriptionFrame():
                return await self._transcribed(frame.text)
            case _:
                pass
        return ProcessFrameResult.CONTINUE

    async def _start(self) -> ProcessFrameResult:
        if not self._listening.yields:
            return ProcessFrameResult.CONTINUE
        await self.trigger_user_turn_started()
        return ProcessFrameResult.STOP

    async def _transcribed(self, text: str) -> ProcessFrameResult:
        self._listening.transcribed(text)
        if not self._agent_speaks or len(text.split()) >= FEWEST_WORDS:
            return await self._start()
        await self.trigger_reset_aggregation()
        await self._listening.aside(text)
        return ProcessFrameResult.CONTINUE


@dataclass(frozen=True)
class SpeechModels:
    """What a call needs to tell speech from silence, and an end from a pause. Each call has its own."""

    activity: SileroVADAnalyzer
    ends: LocalSmartTurnAnalyzerV3


def load_models() -> SpeechModels:
    """Loads the models of one call. It takes 0.2 s of a core, so it belongs into a thread."""
    ends = LocalSmartTurnAnalyzerV3(params=SmartTurnParams(stop_secs=_LONGEST_PAUSE_S))
    return SpeechModels(SileroVADAnalyzer(params=VADParams()), ends)


def strategies(listening: Listening, models: SpeechModels | None, *, hears_late: bool) -> UserTurnStrategies:
    """Who speaks when. A turn ends when its sentence sounds finished, or after a pause. Without models nothing is
    heard, and nobody takes a turn by speaking."""
    if models is None:
        return UserTurnStrategies(start=[BaseUserTurnStartStrategy()], stop=[SpeechTimeoutUserTurnStopStrategy()])
    return UserTurnStrategies(
        start=[BargeIn(listening, hears_late=hears_late)],
        stop=[TurnAnalyzerUserTurnStopStrategy(turn_analyzer=models.ends)],
    )
