"""The other side of a call as a transport of the pipeline. It knows what was really said, and when."""

# Pipecat passes keywords on without their types.
# pyright: reportUnknownMemberType=false

import asyncio
import re
from dataclasses import dataclass, field
from typing import Protocol

from pipecat.audio.dtmf.types import KeypadEntry
from pipecat.audio.dtmf.utils import load_dtmf_audio
from pipecat.frames.frames import (
    AggregatedTextFrame,
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputDTMFFrame,
    OutputDTMFUrgentFrame,
    StartFrame,
    TTSTextFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import BaseTransport, TransportParams

from callwright.service.telephony.engine import TurnSource
from callwright.service.telephony.media.findings import Then
from callwright.service.telephony.media.other_side import OtherSide
from callwright.service.telephony.media.sound.sound_clock import FRAME_BYTES, RATE, SoundClock, Track
from callwright.service.telephony.media.turns.frames import SpokenWord, TurnBegins, TurnEnds
from callwright.service.telephony.simulated.conversation.timing import spoken_duration_s

PLACE = "end_s"
"""The key of a frame's metadata that says when its sound ends on the clock."""
_AHEAD_S = 0.06
"""How much sound is sent before its time, against jitter. It is lost when the agent is interrupted."""
_MOST_REPEATS = 2
"""How often a turn is said again of which no sound came."""
_WORD = re.compile(r"\w")


@dataclass(frozen=True)
class AgentTurn:
    """What the agent really said. Times are seconds after the answer."""

    text: str
    start_s: float
    end_s: float
    source: TurnSource
    language: str
    interrupted: bool = False


class SpeechObserver(Protocol):
    """Is told what the agent says, as its sound leaves."""

    def agent_starts(self) -> None:
        """The first sound of a turn leaves."""
        ...

    def agent_said(self, turn: AgentTurn) -> None:
        """A turn with sound is over."""
        ...

    def agent_is_done(self, then: Then) -> None:
        """All of a turn was said, with or without sound."""
        ...


class SaysAgain(Protocol):
    """Says a turn again."""

    async def __call__(self, text: str, *, language: str | None, then: Then, source: TurnSource) -> None:
        """Says it after what is being said."""
        ...


@dataclass
class _Open:
    """A turn of the agent that is not over."""

    source: TurnSource
    language: str
    announced: str = ""
    words: list[str] = field(default_factory=list[str])
    has_word_times: bool = False
    start_s: float | None = None
    end_s: float = 0.0

    def said(self, *, interrupted: bool) -> str:
        """The words whose sound left. Without times of words, as many of the sentence as its time allows."""
        words = "".join(self.words).strip()
        if words or not interrupted or not self.announced or self.start_s is None:
            return words
        share = (self.end_s - self.start_s) / max(spoken_duration_s(self.announced, self.language), 0.1)
        parts = self.announced.split()
        return " ".join(parts[: int(len(parts) * min(share, 1.0))])


class SoundIn(BaseInputTransport):
    """What the other side says."""

    def __init__(self, params: TransportParams, track: Track) -> None:
        super().__init__(params)
        self._track = track
        self._is_ready = False

    async def start(self, frame: StartFrame) -> None:
        """Begins to take sound."""
        await super().start(frame)
        await self.set_transport_ready(frame)
        self._is_ready = True

    async def hear(self, pcm: bytes) -> None:
        """Takes sound that was just said."""
        _, end_s = self._track.place(pcm, heard=True)
        if self._is_ready:
            frame = InputAudioRawFrame(pcm, RATE, 1)
            frame.metadata[PLACE] = end_s
            await self.push_audio_frame(frame)


class SoundOut(BaseOutputTransport):
    """What the agent says, in real time."""

    say_again: SaysAgain | None = None
    """Is asked when the speaking service has made no sound of a turn: it may have lost its connection."""

    def __init__(self, params: TransportParams, track: Track, clock: SoundClock, observer: SpeechObserver) -> None:
        super().__init__(params)
        self._track = track
        self._time = clock
        self._observer = observer
        self._other: OtherSide | None = None
        self._turn: _Open | None = None
        self._repeats = 0

    def attach(self, other: OtherSide) -> None:
        """Sends to this side from now on."""
        self._other = other

    async def start(self, frame: StartFrame) -> None:
        """Begins to send."""
        await super().start(frame)
        await self.set_transport_ready(frame)

    def fall_silent(self) -> None:
        """Ends the turn that is being said, and silences the other side at once."""
        if self._other is None:
            return
        speaks = self._turn is not None and self._turn.start_s is not None
        self._other.drop_unsent_sound()
        self._close_turn(interrupted=True)
        if speaks:
            self._other.send("clear")

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Falls silent as soon as the agent is interrupted."""
        if isinstance(frame, InterruptionFrame):
            self.fall_silent()
        await super().process_frame(frame, direction)

    async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Hands a frame on. Words with times of their own come only here."""
        if isinstance(frame, TTSTextFrame) and frame.pts:
            self._spoken(frame)
        await super().push_frame(frame, direction)

    async def write_transport_frame(self, frame: Frame) -> None:
        """Takes what stands between the sound. A fault here is one of the call, whose task would end silently."""
        try:
            if not isinstance(frame, TurnEnds) or not await self._is_said_again(frame.then):
                self._pass(frame)
        except Exception as error:
            await self.push_error("a turn could not be noted", exception=error)

    async def _is_said_again(self, then: Then) -> bool:
        """Whether a turn that ends without any sound is repeated."""
        turn = self._turn
        text = (turn.announced.strip() or "".join(turn.words).strip()) if turn is not None else ""
        if turn is None or turn.start_s is not None or not _WORD.search(text):
            self._repeats = 0
            return False
        if self.say_again is None or self._repeats >= _MOST_REPEATS:
            return False
        self._turn, self._repeats = None, self._repeats + 1
        await self.say_again(text, language=turn.language, then=then, source=turn.source)
        return True

    def _pass(self, frame: Frame) -> None:
        match frame:
            case TurnBegins():
                self._close_turn(interrupted=False)
                self._turn = _Open(frame.source, frame.language)
            case TurnEnds():
                self._close_turn(interrupted=False)
                self._observer.agent_is_done(frame.then)
            case TTSTextFrame():
                self._spoken(frame)
            case AggregatedTextFrame() if self._turn is not None and frame.will_be_spoken:
                self._turn.announced += f" {frame.text}"
            case _:
                pass

    def _spoken(self, frame: TTSTextFrame) -> None:
        turn = self._turn
        if turn is None:
            return
        if isinstance(frame, SpokenWord):
            turn.has_word_times = True
            turn.words.append(frame.text)
        elif frame.pts or not turn.has_word_times:  # else a whole sentence, whose words came before
            turn.words.append(frame.text if frame.includes_inter_frame_spaces else f"{frame.text} ")

    def _close_turn(self, *, interrupted: bool) -> None:
        turn, self._turn = self._turn, None
        if turn is None or turn.start_s is None:
            return
        text = turn.said(interrupted=interrupted)
        self._observer.agent_said(AgentTurn(text, turn.start_s, turn.end_s, turn.source, turn.language, interrupted))

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Sends sound and waits until it is nearly due. False if the other side is gone."""
        for at in range(0, len(frame.audio), FRAME_BYTES):
            if not await self._write(frame.audio[at : at + FRAME_BYTES]):
                return False
        return True

    async def _write(self, pcm: bytes) -> bool:
        if self._other is None or not self._other.is_open:
            return False
        start_s, end_s = self._track.place(pcm, heard=False)
        if self._turn is not None:
            if self._turn.start_s is None:
                self._turn.start_s = start_s
                self._observer.agent_starts()
            self._turn.end_s = end_s
        if not self._other.send_sound(pcm):
            return False
        early_s = end_s - self._time.now_s() - _AHEAD_S
        if early_s > 0:
            await asyncio.sleep(early_s)
        return True

    async def write_dtmf(self, frame: OutputDTMFFrame | OutputDTMFUrgentFrame) -> None:
        """Sends keys as the line carries them, or as tones."""
        keys = frame.buttons or ()
        if self._other is not None and await self._other.press("".join(str(KeypadEntry(key).value) for key in keys)):
            return
        for key in keys:
            tone = await load_dtmf_audio(KeypadEntry(key), sample_rate=RATE)
            await self.write_audio_frame(OutputAudioRawFrame(tone, RATE, 1))


class CallTransport(BaseTransport):
    """Both directions of a call."""

    def __init__(self, clock: SoundClock, agent: Track, contact: Track, observer: SpeechObserver) -> None:
        super().__init__()
        params = TransportParams(
            audio_in_enabled=True,
            audio_in_sample_rate=RATE,
            audio_out_enabled=True,
            audio_out_sample_rate=RATE,
            audio_out_10ms_chunks=2,
            audio_out_end_silence_secs=0,
        )
        self._in = SoundIn(params, contact)
        self._out = SoundOut(params, agent, clock, observer)

    def input(self) -> SoundIn:
        """What the other side says."""
        return self._in

    def output(self) -> SoundOut:
        """What the agent says."""
        return self._out
