"""The turns of a live call in the order they ended, and how long each answer took."""

import time
from collections.abc import Callable, Mapping
from typing import Protocol

from callwright.service.telephony.engine import Speaker, ToolCall, Turn, TurnSource
from callwright.service.telephony.media.messages import Latency, Said

SAME_SENTENCES = 3
"""An agent that says the same this often in a row goes in circles."""


class Caption(Protocol):
    """Shows something to the page."""

    def __call__(self, kind: str, **content: object) -> object:
        """Sends a text message of this kind."""
        ...


class AnswerTimes:
    """The moments of one answer, by the monotonic clock in seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._at: dict[str, float] = {}

    def speech_ended(self, ago_s: float) -> None:
        """The other side stopped speaking; a new answer begins."""
        now = self._now()
        self._at = {"ended": now - ago_s, "known": now}

    def reached(self, moment: str) -> None:
        """The first time after the end of speech that a moment is reached counts; of `heard` and `asked` the last."""
        if self._at and (moment in ("heard", "asked") or moment not in self._at):
            self._at[moment] = self._now()

    def parts_ms(self) -> Mapping[str, int] | None:
        """Milliseconds by part, once for each answer; None if an answer has no speech before it."""
        at, self._at = self._at, {}
        if "asked" not in at or "sound" not in at:
            return None
        hearing = max(at.get("heard", at["known"]) - at["known"], 0.0)
        words = at.get("words", at["asked"])
        parts = {
            "endpointing": max(at["asked"] - at["ended"] - hearing, 0.0),
            "hearing": hearing,
            "thinking": max(words - at["asked"], 0.0),
            "speaking": max(at["sound"] - words, 0.0),
        }
        return {name: round(seconds * 1_000) for name, seconds in parts.items()}


class Transcript:
    """Numbers the turns of a call and reports each when it is over."""

    def __init__(self, call_id: str, report: Callable[[Said | Latency], None], caption: Caption) -> None:
        self._call_id = call_id
        self._report = report
        self._caption = caption
        self._last: dict[Speaker, str] = {}
        self._repeated = 0
        self.counts_repeats = True
        """Whether saying the same again counts; not to a contact who holds."""
        self.turns = 0
        """How many turns there were."""

    def heard_of(self, speaker: Speaker) -> str:
        """What was said in that side's last turn; empty if it has not spoken."""
        return self._last.get(speaker, "")

    @property
    def goes_in_circles(self) -> bool:
        """Whether the agent said the same too often."""
        return self._repeated >= SAME_SENTENCES - 1

    def add(
        self,
        speaker: Speaker,
        text: str,
        *,
        start_s: float,
        end_s: float,
        language: str,
        source: TurnSource,
        interrupted: bool = False,
        keys: str = "",
    ) -> int:
        """Reports a turn, and returns its number. Times are seconds after the answer."""
        if speaker == "agent":
            same = bool(text) and text == self.heard_of("agent") and not interrupted and self.counts_repeats
            self._repeated = self._repeated + 1 if same else 0
        if text:
            self._last[speaker] = text
        index, self.turns = self.turns, self.turns + 1
        start_s, end_s = round(start_s, 3), round(max(end_s, start_s), 3)
        turn = Turn(index, speaker, text, start_s, end_s, language, source, interrupted)
        self._report(Said(call_id=self._call_id, turn=turn, keys=keys))
        shown = text or f"[{keys}]"
        self._caption("caption", role=speaker, text=shown, is_final=True)
        return index

    def tool_turn(
        self, called: ToolCall, *, start_s: float, end_s: float, source: TurnSource, index: int | None = None
    ) -> Turn:
        """The call of a tool as a turn in which nobody speaks, with the next number or the one that it has already.
        Times are seconds after the answer."""
        if index is None:
            index, self.turns = self.turns, self.turns + 1
        start_s, end_s = round(start_s, 3), round(max(end_s, start_s), 3)
        return Turn(index, "system", "", start_s, end_s, "", source, tool_call=called)

    def tool_called(self, turn: Turn) -> None:
        """Reports such a turn, once the tool has answered."""
        self._report(Said(call_id=self._call_id, turn=turn))
        if turn.tool_call is not None:
            self._caption("tool", name=turn.tool_call.name, is_ok=turn.tool_call.ok)

    def answered(self, index: int, parts_ms: Mapping[str, int]) -> None:
        """Reports how long the answer with this number took."""
        total_ms = sum(parts_ms.values())
        self._report(Latency(call_id=self._call_id, turn_index=index, total_ms=total_ms, parts_ms=parts_ms))
        self._caption("latency", turn_index=index, total_ms=total_ms, parts_ms=dict(parts_ms))
