"""get_transcript for a model: the part it asks for, under a bound of tokens, and where to go on."""

import re
from typing import Annotated, Literal

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from callwright.contract.calls import GetTranscript, Transcript, TranscriptTurn

from .text import line, lines
from .tool import Reply, data_of
from .transcripts import WHAT, absence, heading, turn_lines, whole_transcript
from .untrusted import cleaned_at, fenced
from .use import Use

CONTEXT_TURNS = 3
"""Turns shown on either side of `around_turn`."""
DEFAULT_TOKENS = 4_000
MOST_TOKENS = 20_000
_BYTES_A_TOKEN = 4
_CURSOR = re.compile(r"turn-(\d{1,6})")


class ReadTranscript(GetTranscript):
    """The call whose transcript to read, and which part of it."""

    from_turn: Annotated[int | None, Field(ge=0, description="First turn wanted, from 0.")] = None
    to_turn: Annotated[int | None, Field(ge=0, description="Last turn wanted.")] = None
    from_seconds: Annotated[float | None, Field(ge=0, description="Only turns that last beyond this second.")] = None
    to_seconds: Annotated[float | None, Field(ge=0, description="Only turns that begin before this second.")] = None
    speaker: Annotated[Literal["agent", "contact"] | None, Field(description="Only turns of this speaker.")] = None
    around_turn: Annotated[
        int | None,
        Field(ge=0, description="This turn (say, a match of search_transcripts) with three each side."),
    ] = None
    max_tokens: Annotated[
        int, Field(ge=200, le=MOST_TOKENS, description="About how much to send at most; the rest can be asked for.")
    ] = DEFAULT_TOKENS


class TranscriptPart(Transcript):
    """A part of a transcript."""

    turns_left: Annotated[int, Field(description="Turns that were asked for and did not fit; next_cursor goes on.")] = 0


async def part_of_transcript(use: Use, asked: ReadTranscript) -> Reply:
    """The turns asked for. What does not fit is counted, with the cursor that goes on."""
    found = await whole_transcript(use.client, asked.call_uuid)
    wanted = [turn for turn in found.turns if _wanted(turn, asked)]
    fitting = _fitting(wanted[: asked.per_page], asked.max_tokens)
    left = wanted[len(fitting) :]
    cursor = f"turn-{left[0].index}" if left else found.next_cursor
    part = TranscriptPart.model_validate(
        {**found.model_dump(), "turns": fitting, "next_cursor": cursor, "turns_left": len(left)}
    )
    data = data_of(part)
    cleaned_at(data, "turns.text")
    return Reply(text=_worded(part, use), data=data, untrusted=("turns.text",))


def _wanted(turn: TranscriptTurn, asked: ReadTranscript) -> bool:
    first = asked.from_turn
    if asked.cursor is not None:
        match = _CURSOR.fullmatch(asked.cursor)
        if match is None:
            raise ToolError("Invalid arguments: cursor: is not one that get_transcript gave; leave it out to begin.")
        first = max(first or 0, int(match[1]))
    return (
        (first is None or turn.index >= first)
        and (asked.to_turn is None or turn.index <= asked.to_turn)
        and (asked.from_seconds is None or turn.end_seconds > asked.from_seconds)
        and (asked.to_seconds is None or turn.start_seconds < asked.to_seconds)
        and (asked.speaker is None or turn.role == asked.speaker)
        and (asked.around_turn is None or abs(turn.index - asked.around_turn) <= CONTEXT_TURNS)
    )


def _fitting(turns: list[TranscriptTurn], max_tokens: int) -> list[TranscriptTurn]:
    """As many turns as fit; one at least, so that asking again always gets further."""
    left = max_tokens * _BYTES_A_TOKEN
    kept: list[TranscriptTurn] = []
    for turn, said in zip(turns, turn_lines(turns), strict=True):
        left -= len(said.encode())
        if kept and left < 0:
            break
        kept.append(turn)
    return kept


def _worded(part: TranscriptPart, use: Use) -> str:
    if not part.turn_count:
        return lines(heading(part), absence(part))
    if not part.turns:
        return lines(heading(part), "No turn fits what was asked for.")
    more = f"{part.turns_left} more turns" if part.turns_left else "More turns"
    return lines(
        heading(part),
        fenced(turn_lines(part.turns), tag=use.session.ids(), what=WHAT),
        line(f"{more}: call again with cursor={part.next_cursor}") if part.next_cursor else None,
    )
