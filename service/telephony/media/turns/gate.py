"""The processor between the turns of the other side and what answers them."""

# Pipecat passes keywords on without their types.
# pyright: reportUnknownMemberType=false

from typing import Protocol

from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    LLMContextFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from callwright.service.telephony.media.sound.transport import PLACE


class Floor(Protocol):
    """Is told when the other side speaks, and decides what answers. Times are seconds after the answer."""

    def speech_starts(self, at_s: float) -> None:
        """The other side begins to speak."""
        ...

    def speech_ends(self, at_s: float, *, ago_s: float) -> None:
        """The other side stopped speaking `ago_s` before now."""
        ...

    async def turn(self, text: str) -> bool:
        """A turn is over. Returns whether the model answers it."""
        ...


class TurnGate(FrameProcessor):
    """Lets a turn pass to the model if the floor says so. Sound ends here."""

    def __init__(self, floor: Floor) -> None:
        super().__init__()
        self._floor = floor
        self._heard_s = 0.0

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Follows the other side's speech."""
        await super().process_frame(frame, direction)
        match frame:
            case InputAudioRawFrame():
                self._heard_s = float(frame.metadata.get(PLACE, self._heard_s))
                return
            case VADUserStartedSpeakingFrame():
                self._floor.speech_starts(max(self._heard_s - frame.start_secs, 0.0))
            case VADUserStoppedSpeakingFrame():
                self._floor.speech_ends(max(self._heard_s - frame.stop_secs, 0.0), ago_s=frame.stop_secs)
            case LLMContextFrame() if direction == FrameDirection.DOWNSTREAM:
                if not await self._floor.turn(_last_words(frame.context)):
                    return
            case _:
                pass
        await self.push_frame(frame, direction)


def _last_words(context: LLMContext) -> str:
    """What the other side said last."""
    for message in reversed(context.messages):
        if isinstance(message, dict) and message.get("role") == "user":
            content = message.get("content")
            return content if isinstance(content, str) else ""
    return ""
