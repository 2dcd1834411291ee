"""The turns of one call in the order they are said, with their times in seconds after the answer."""

from dataclasses import dataclass

from callwright.service.telephony.engine import Speaker, ToolCall, Turn
from callwright.service.telephony.simulated.conversation.timing import spoken_duration_s

MIN_GAP_S = 0.4
MAX_TURN_CHARS = 5_000
_OVERLAP_S = 0.3


@dataclass(slots=True)
class _Said:
    speaker: Speaker
    text: str
    language: str
    start_s: float
    end_s: float
    interrupted: bool = False
    tool_call: ToolCall | None = None


class Timeline:
    """Places turns one after another and ends the call at `limit_s`, if necessary in the middle of a turn."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        """When the call ends at the latest."""
        self._said: list[_Said] = []
        self._next_may_overlap = False
        self.now_s = 0.0
        """When the last turn, or the silence after it, ended."""
        self.cut = False
        """The limit was reached; nothing more is said."""

    @property
    def agent_has_spoken(self) -> bool:
        """Whether the agent has said anything yet."""
        return any(each.speaker == "agent" for each in self._said)

    def heard_of(self, speaker: Speaker) -> str:
        """What was heard of that side's last turn; empty if it has not spoken."""
        return next((each.text for each in reversed(self._said) if each.speaker == speaker), "")

    def say(self, speaker: Speaker, text: str, language: str, *, gap_s: float) -> None:
        """Adds a turn `gap_s` after the last, at least `MIN_GAP_S` unless it interrupts. Empty text adds nothing."""
        if self.cut or not text:
            return
        text = text if len(text) <= MAX_TURN_CHARS else text[:MAX_TURN_CHARS]
        if self._next_may_overlap:
            self._next_may_overlap = False
            start = max(self.now_s - _OVERLAP_S, self._said[-1].start_s + 0.1)
        else:
            start = self.now_s + (gap_s if gap_s > MIN_GAP_S else MIN_GAP_S)
        start = round(start, 3)
        end = round(start + spoken_duration_s(text, language), 3)
        if end <= self.limit_s:
            self._said.append(_Said(speaker, text, language, start, end))
            self.now_s = end
            return
        self.cut = True
        kept, duration = _words_within(text, language, self.limit_s - start)
        if kept:
            self._said.append(_Said(speaker, kept, language, start, round(start + duration, 3), True))
        self.now_s = self.limit_s

    def tool_called(self, called: ToolCall) -> None:
        """Adds the call of a tool, which takes no time."""
        if not self.cut:
            self._said.append(_Said("system", "", "", self.now_s, self.now_s, tool_call=called))

    def end_by(self, at_s: float) -> None:
        """Ends the call at that moment, if not before."""
        self.limit_s = min(self.limit_s, round(at_s, 3))

    def wait(self, seconds: float) -> None:
        """Adds a silence."""
        self.now_s = round(self.now_s + seconds, 3)
        if self.now_s >= self.limit_s:
            self.now_s = self.limit_s
            self.cut = True

    def cut_in(self, share: float, *, at_least: str = "") -> bool:
        """Cuts the last turn after about that share of its words; the next turn overlaps its end.

        The turn is kept at least up to the end of the words `at_least`.

        Returns false if the turn is too short to be cut, or the call is over.
        """
        last = self._said[-1] if self._said and not self.cut else None
        if last is None or last.end_s - last.start_s < 2.5:
            return False
        kept, duration = _words_within(last.text, last.language, share * (last.end_s - last.start_s))
        if at_least and (at := last.text.find(at_least)) >= 0 and len(kept) < (needed := at + len(at_least)):
            kept = last.text[:needed]
            duration = spoken_duration_s(kept, last.language)
        if not kept or kept == last.text:
            return False
        last.text, last.interrupted = kept, True
        last.end_s = self.now_s = round(last.start_s + duration, 3)
        self._next_may_overlap = True
        return True

    def turns(self) -> tuple[Turn, ...]:
        """The turns of the call."""
        return tuple(
            Turn(
                index,
                each.speaker,
                each.text,
                each.start_s,
                each.end_s,
                each.language,
                "policy" if each.tool_call is None else "rehearsal",
                each.interrupted,
                tool_call=each.tool_call,
            )
            for index, each in enumerate(self._said)
        )


def _words_within(text: str, language: str, seconds: float) -> tuple[str, float]:
    """The longest beginning of the text, cut at a word, that can be said in that time, and its duration."""
    words = text.split()
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if spoken_duration_s(" ".join(words[:middle]), language) <= seconds:
            low = middle
        else:
            high = middle - 1
    kept = " ".join(words[:low])
    return kept, spoken_duration_s(kept, language) if kept else 0.0
