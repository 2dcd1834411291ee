"""get_transcript for a model: the requested part within a token limit, and where the next part begins."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from callwright.contract.calls.calls import GetTranscript, Transcript, TranscriptTurn
from callwright.contract.checks.counts import count_of
from callwright.tools.media.external_transcripts import only_said
from callwright.tools.media.transcripts import (
    MOST_TURNS,
    WHAT,
    absence,
    heading,
    turn_lines,
    whole_transcript,
    words_of,
)
from callwright.tools.replies.size_limit import BYTES_A_TOKEN, DEFAULT_TOKENS, MOST_TOKENS, count_that_fits
from callwright.tools.runtime.tool import Projection, Reply, data_of, projected
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.untrusted.fence import fenced
from callwright.tools.wording.cleaning import cleaned_at
from callwright.tools.wording.text import json_bytes, line, lines

CONTEXT_TURNS = 3
"""Turns shown on either side of `around_turn`."""
_HEAD_BYTES = 700
"""Bytes reserved for the text around the turns."""
_CURSOR = re.compile(r"turn-(\d{1,6})")


class ReadTranscript(GetTranscript):
    """The call whose transcript to read, and which part of it."""

    from_turn: Annotated[int | None, Field(ge=0, description="From this turn, 0 being the first.")] = None
    to_turn: Annotated[int | None, Field(ge=0, description="Up to this turn.")] = None
    from_seconds: Annotated[float | None, Field(ge=0, description="From this second.")] = None
    to_seconds: Annotated[float | None, Field(ge=0, description="Up to this second.")] = None
    speaker: Annotated[Literal["agent", "contact"] | None, Field(description="Of one speaker.")] = None
    around_turn: Annotated[
        int | None,
        Field(ge=0, description="This turn with three each side."),
    ] = None
    max_tokens: Annotated[
        int, Field(ge=200, le=MOST_TOKENS, description="About how much to send at most, in words and data.")
    ] = DEFAULT_TOKENS


class Turn(Projection):
    """One thing said, or a tool that was called; its text says then what was asked and answered."""

    index: int
    role: Literal["agent", "contact", "system"]
    text: str
    start_seconds: float
    end_seconds: float


class TranscriptPart(Projection):
    """A part of a transcript."""

    call_id: str
    simulated: bool
    language: str
    status: str
    duration_seconds: float
    turn_count: int
    turns: list[Turn]
    turns_left: Annotated[int, Field(description="Turns that were asked for and did not fit; next_cursor goes on.")] = 0
    next_cursor: str | None = None


async def part_of_transcript(context: ToolContext, asked: ReadTranscript) -> Reply:
    """The requested turns. Those that do not fit are counted, with the cursor of the next part."""
    masks = context.session.masks
    found = await whole_transcript(context.client, asked.call_uuid, masks=masks, until=_last_of_use(asked))
    unread = max(0, min(found.turn_count, MOST_TURNS) - len(found.turns)) if found.next_cursor else 0
    wanted = [turn for turn in found.turns if _wanted(turn, asked)]
    most = [turn.model_copy(update={"text": words_of(turn), "tool_call": None}) for turn in wanted[: asked.per_page]]
    said, turns = turn_lines(most), [data_of(projected(Turn, turn)) for turn in most]
    count = _fitting(said, turns, asked.max_tokens)
    left = wanted[count:]
    following = found.next_cursor if not unread else None
    cursor = f"turn-{left[0].index}" if left else following
    turns_left = len(left) + (_of_the_unread(found, unread, asked) if left else 0)
    shown = found.model_copy(update={"turns": most[:count]})
    empty = projected(TranscriptPart, found.model_copy(update={"turns": []}))
    part = empty.model_copy(update={"next_cursor": cursor, "turns_left": turns_left})
    data = only_said({**data_of(part), "turns": turns[:count]}, shown)
    cleaned_at(data, "turns.text")
    return Reply(text=_worded(part, shown, said[:count], context), data=data, untrusted=("turns.text",))


def _indices(asked: ReadTranscript) -> tuple[int, int | None] | None:
    """The first and the last requested index; None if turns are also selected by other arguments."""
    match = _CURSOR.fullmatch(asked.cursor) if asked.cursor is not None else None
    narrowed = (asked.speaker, asked.from_seconds, asked.to_seconds) != (None, None, None)
    if narrowed or (asked.cursor is not None and match is None):
        return None
    around = asked.around_turn
    first = max(asked.from_turn or 0, int(match[1]) if match else 0, 0 if around is None else around - CONTEXT_TURNS)
    ends = [end for end in (asked.to_turn, None if around is None else around + CONTEXT_TURNS) if end is not None]
    return first, min(ends, default=None)


def _last_of_use(asked: ReadTranscript) -> int | None:
    """The index of the last turn that has to be read: the one after those shown, or the last requested one."""
    if (indices := _indices(asked)) is None:
        return None
    first, last = indices
    return first + asked.per_page if last is None else min(first + asked.per_page, last)


def _of_the_unread(found: Transcript, unread: int, asked: ReadTranscript) -> int:
    """How many of the turns that were not read are requested."""
    last = None if (indices := _indices(asked)) is None else indices[1]
    return unread if last is None else max(0, min(unread, last + 1 - len(found.turns)))


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


def _fitting(said: Sequence[str], turns: Sequence[dict[str, Any]], max_tokens: int) -> int:
    """How many turns fit, as text and as data; at least one, so that each call makes progress."""
    sizes = [json_bytes(words) + json_bytes(turn) + 2 for words, turn in zip(said, turns, strict=True)]
    return count_that_fits(sizes, max_tokens * BYTES_A_TOKEN - _HEAD_BYTES)


def _worded(part: TranscriptPart, shown: Transcript, said: list[str], context: ToolContext) -> str:
    if not part.turn_count:
        return lines(heading(shown), absence(shown))
    if not said:
        return lines(heading(shown), "No turn fits what was asked for.")
    more = count_of(part.turns_left, "more turn") if part.turns_left else "More turns"
    return lines(
        heading(shown),
        fenced(said, tag=context.session.ids(), what=WHAT),
        line(f"{more}: call again with cursor={part.next_cursor}") if part.next_cursor else None,
    )
