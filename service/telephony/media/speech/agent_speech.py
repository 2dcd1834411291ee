"""The last processor before the speaking service: everything the agent says passes here."""

# Pipecat passes keywords on without their types.
# pyright: reportUnknownMemberType=false

import asyncio
import re
import time
from collections.abc import Callable
from typing import Protocol

from pipecat.frames.frames import (
    Frame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    OutputAudioRawFrame,
    OutputDTMFFrame,
    TTSSpeakFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from callwright.service.telephony.engine import TurnSource
from callwright.service.telephony.media.findings import Then
from callwright.service.telephony.media.sound.sound_clock import RATE
from callwright.service.telephony.media.turns.frames import ToolsCalled, TurnBegins, TurnEnds

HANG_UP = "[hang_up]"
"""A model that writes this ends the call."""
_MARK = re.compile(r"\[(?:(hang_up)|([0-9*#]{1,32}))\]")
_LONGEST_MARK = 40


class AnswerClock(Protocol):
    """Is told how the model answers."""

    def first_words(self) -> None:
        """The first words of an answer are here."""
        ...

    def interrupted(self) -> None:
        """Nothing of what was to be said will be said."""
        ...

    async def no_answer(self, reason: str) -> None:
        """The model gave none: it was too slow, failed, or said nothing. `reason` is a sentence."""
        ...


class AgentSpeech(FrameProcessor):
    """Says sentences, and lets a model's answers pass: in time, at most `most_words` long, their marks carried out.

    A mark is `[hang_up]`, or keys such as `[12#]`, which are pressed and not said.
    """

    def __init__(
        self,
        clock: AnswerClock,
        *,
        language: str,
        answer_s: float,
        most_words: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._answers = clock
        self._language = language
        self._answer_s = answer_s
        self._most_words = most_words
        self._now = now
        self._waiting: asyncio.Task[None] | None = None
        self._waited_s, self._waits_since = 0.0, 0.0
        self._answering = False
        self._words_left = 0
        self._held = ""
        self._then: Then = "listen"
        self._said_something = self._calls_tools = False

    async def say(
        self, text: str, *, language: str | None = None, then: Then = "listen", source: TurnSource = "policy"
    ) -> None:
        """Says a sentence as a turn of its own, after what is being said."""
        await self.push_frame(TurnBegins(source, language or self._language))
        await self.push_frame(TTSSpeakFrame(text))
        await self.push_frame(TurnEnds(then))

    async def press(self, keys: str) -> None:
        """Presses keys, after what is being said."""
        await self.push_frame(OutputDTMFFrame.from_string(keys))

    async def play(self, pcm: bytes) -> None:
        """Plays sound that is no speech, after what is being said."""
        await self.push_frame(OutputAudioRawFrame(pcm, RATE, 1))

    async def silence(self) -> None:
        """Interrupts what is being said and thought."""
        await self._stop_waiting()
        self._answering = False
        self._answers.interrupted()
        await self.broadcast_interruption()

    async def expect_answer(self) -> None:
        """The model was asked. If it does not begin in time, it counts as silent.

        Time that it was waited for without an answer counts, so that a contact who speaks again does not wait anew.
        """
        await self._stop_waiting()
        self._waits_since = self._now()
        self._waiting = self.create_task(self._wait_for_answer())

    async def model_failed(self) -> None:
        """The model failed."""
        if self._waiting is not None or self._answering:
            await self._give_up("The model failed to answer.")

    async def cleanup(self) -> None:
        """Stops waiting."""
        await super().cleanup()
        await self._stop_waiting()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Lets a model's answer pass."""
        await super().process_frame(frame, direction)
        match frame:
            case InterruptionFrame():
                await self._stop_waiting()
                self._answering = False
                self._answers.interrupted()
                await self.push_frame(frame, direction)
            case LLMFullResponseStartFrame():
                self._answering, self._words_left, self._held = True, self._most_words, ""
                self._then, self._said_something, self._calls_tools = "listen", False, False
                if self._waiting is None:  # a tool has answered, and the model is asked again
                    await self.expect_answer()
                await self.push_frame(TurnBegins("llm", self._language))
                await self.push_frame(frame, direction)
            case ToolsCalled():
                self._calls_tools = True
            case LLMTextFrame():
                if self._answering:
                    await self._text(frame.text)
            case LLMFullResponseEndFrame():
                if self._answering:
                    await self._end(frame)
            case _:
                await self.push_frame(frame, direction)

    async def _text(self, text: str) -> None:
        self._held += text
        # What may be the beginning of a mark, or of a word, waits for its end.
        at = self._held.rfind("[")
        if at >= 0 and "]" not in self._held[at:] and len(self._held) - at < _LONGEST_MARK:
            ready, self._held = self._held[:at], self._held[at:]
        else:
            cut = max(self._held.rfind(" "), self._held.rfind("\n")) + 1
            ready, self._held = self._held[:cut], self._held[cut:]
        await self._speak(ready)

    async def _speak(self, text: str) -> None:
        done = 0
        for mark in _MARK.finditer(text):
            await self._words(text[done : mark.start()])
            done = mark.end()
            if mark[1]:
                self._then = "hang_up"
            else:
                await self.push_frame(OutputDTMFFrame.from_string(mark[2]))
            await self._begun()
        await self._words(text[done:])

    async def _words(self, text: str) -> None:
        if not text.strip():
            if text and self._said_something and self._words_left > 0:
                await self.push_frame(LLMTextFrame(text))
            return
        words = text.split(" ")
        kept: list[str] = []
        for word in words:
            if word.strip():
                if self._words_left <= 0:
                    break
                self._words_left -= 1
            kept.append(word)
        if kept:
            await self._begun()
            self._said_something = True
            await self.push_frame(LLMTextFrame(" ".join(kept)))

    async def _begun(self) -> None:
        if self._waiting is not None:
            await self._stop_waiting()
            self._waited_s = 0.0
            self._answers.first_words()

    async def _end(self, frame: LLMFullResponseEndFrame) -> None:
        held, self._held = self._held, ""
        await self._speak(held)
        self._answering = False
        if self._waiting is not None:
            await self._stop_waiting()
            self._waited_s = 0.0
            await self.push_frame(frame)
            if not self._calls_tools:
                await self._answers.no_answer("The model answered nothing.")
            return
        await self.push_frame(frame)
        await self.push_frame(TurnEnds(self._then))

    async def _wait_for_answer(self) -> None:
        await asyncio.sleep(max(self._answer_s - self._waited_s, 0.0))
        self._waiting = None
        await self._give_up("The model did not answer in time.")

    async def _give_up(self, reason: str) -> None:
        await self.silence()
        self._waited_s = 0.0
        await self._answers.no_answer(reason)

    async def _stop_waiting(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._waited_s += self._now() - self._waits_since
            await self.cancel_task(waiting)
