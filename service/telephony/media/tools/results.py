"""What comes of the call of a tool."""

from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

Then = Literal["answer", "listen", "give_up"]
NOT_KNOWN = "The process ended before there was an answer; the endpoint may have done it."
LONGEST_RESULT = 4_000
"""Characters of a result that the model and the transcript get."""


@dataclass(frozen=True)
class ToolResult:
    """What a tool has answered. `text` is what the model is given, `answer` the same as a value where there is one."""

    ok: bool
    text: str
    answer: JsonValue = None
    then: Then = "answer"
    """What the agent does: the model answers, it listens, or it stops trying in this turn, unless another tool that was
    called with it has something to answer with."""


def failed(sentence: str, *, then: Then = "answer") -> ToolResult:
    """The result of a call that failed, in a sentence that tells the model its next step."""
    return ToolResult(ok=False, text=shortened(sentence), then=then)


def shortened(text: str) -> str:
    """The text, cut with a note if it is too long."""
    if len(text) <= LONGEST_RESULT:
        return text
    return f"{text[:LONGEST_RESULT]}… (cut: {len(text):,} characters in all)"
