"""Transcripts in formats for a model, a person or a player: lines, Markdown, WebVTT."""

from collections.abc import Iterator, Sequence

from callwright.client.errors import CallwrightError
from callwright.contract.calls.calls import Call, GetTranscript, Transcript, TranscriptTurn
from callwright.contract.checks.counts import count_of
from callwright.tools.media.external_transcripts import (
    foreign_transcript,
    needs_another_way,
    own_form,
    when,
    who,
)
from callwright.tools.runtime.tool_context import Caller
from callwright.tools.untrusted.fence import NOT_INSTRUCTIONS, fenced
from callwright.tools.untrusted.guarded_answers import guarded
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import clock_time, line, lines

_TURNS_AT_ONCE = 200
_MOST_PAGES = 20
MOST_TURNS = _TURNS_AT_ONCE * _MOST_PAGES
"""The most turns of a call that are read: more than in a call of two hours."""

WHAT = "Transcript of a call."


async def whole_transcript(client: Caller, call_id: str, *, masks: bool, until: int | None = None) -> Transcript:
    """All turns of a call, 4,000 at most; `next_cursor` is still there when some are missing.

    `until` is the index of the last turn needed. Later pages are not read, if the turns so far are numbered from 0 on
    and the service states how many there are.

    If the service has no transcripts of its own, it is read from the call's `transcript_url`. That does not pass
    through `GuardedCaller`, so it is guarded here: with `masks`, a number in the place of a speaker's name is masked.
    """
    try:
        found = await own_form(client, GetTranscript(call_uuid=call_id, per_page=_TURNS_AT_ONCE))
    except CallwrightError as error:
        if needs_another_way(error):
            return guarded(await foreign_transcript(client, call_id, error), masks=masks)
        raise
    turns, cursor = list(found.turns), found.next_cursor
    for _ in range(_MOST_PAGES - 1):
        if cursor is None or (until is not None and _reaches(found, turns, until)):
            break
        asked = GetTranscript(call_uuid=call_id, per_page=_TURNS_AT_ONCE, cursor=cursor)
        part = await own_form(client, asked, first=len(turns))
        turns += part.turns
        cursor = part.next_cursor
    return found.model_copy(update={"turns": turns, "next_cursor": cursor})


def _reaches(found: Transcript, turns: Sequence[TranscriptTurn], until: int) -> bool:
    counted = "turn_count" in found.model_fields_set and found.turn_count > len(turns) > until
    return counted and turns[-1].index == len(turns) - 1


def heading(transcript: Transcript) -> str:
    """A line about the transcript, without anything that was said."""
    return line(
        transcript.call_id,
        cleaned(transcript.language),
        count_of(transcript.turn_count, "turn"),
        length(transcript),
        "simulated" if transcript.simulated else None,
    )


def length(transcript: Transcript) -> str | None:
    """The length of the conversation, if it is known."""
    return clock_time(transcript.duration_seconds) if "duration_seconds" in transcript.model_fields_set else None


def absence(transcript: Transcript) -> str | None:
    """Why a call has no turns, if it has none."""
    if transcript.turns or transcript.turn_count:
        return None
    if transcript.status == "processing":
        return "The transcript is still being written; ask again in a moment."
    return "There is no transcript: nobody spoke on this call."


def words_of(turn: TranscriptTurn) -> str:
    """What was said; of the call of a tool what was asked and answered."""
    if "tool_call" not in turn.model_fields_set or turn.tool_call is None:
        return turn.text
    called = turn.tool_call
    state = "answered" if called.ok else "failed"
    return f"called {called.name}({cleaned(called.arguments)}), which {state}: {cleaned(called.result)}"


def turn_lines(turns: list[TranscriptTurn]) -> list[str]:
    """One line a turn: index, time, speaker, text."""
    return [
        f"[{turn.index}] {f'{moment} ' if (moment := when(turn)) else ''}{who(turn)}: {words_of(turn)}"
        f"{' —' if turn.interrupted else ''}"
        for turn in turns
    ]


def markdown_turns(turns: Sequence[TranscriptTurn]) -> Iterator[str]:
    """One paragraph a turn: speaker, time, index, text."""
    for turn in turns:
        moment = f"{spoken}, " if (spoken := when(turn)) else ""
        yield f"**{who(turn)}** ({moment}turn {turn.index}): {_inert(words_of(turn))}\n"


def markdown(
    transcript: Transcript, call: Call, paragraphs: Sequence[str], *, tag: str, note: str | None = None
) -> str:
    """The transcript as Markdown: the `paragraphs` of its turns, fenced as untrusted under `tag`, and `note`."""
    title = f"# Transcript of call {transcript.call_id}"
    measures = (length(transcript), count_of(transcript.turn_count, "turn"), cleaned(transcript.language))
    facts = [
        f"- outcome: {outcome}" if (outcome := call.outcome or call.status) else None,
        f"- disposition: {call.disposition}" if call.disposition else None,
        f"- agent: {call.agent_id}" if call.agent_id else None,
        f"- deployment: {call.deployment_id}" if call.deployment_id else None,
        f"- length: {', '.join(filter(None, measures))}",
        "- simulated: no telephone rang" if transcript.simulated else None,
    ]
    said = fenced(list(paragraphs), tag=tag, what=WHAT, between="\n\n") if paragraphs else None
    parts = [title, lines(*facts), absence(transcript) or said, note]
    return "\n\n".join(part for part in parts if part) + "\n"


def vtt_cues(turns: Sequence[TranscriptTurn]) -> Iterator[str]:
    """One cue a turn, with a voice tag for its speaker."""
    for turn in turns:
        end = max(turn.end_seconds, turn.start_seconds + 0.001)
        words = _vtt_words(words_of(turn))
        if when(turn) is None or who(turn) == "system":  # a cue needs times, and none are invented; nobody speaks
            yield f"NOTE {turn.index} {_vtt_words(who(turn))}: {words}"
            continue
        times = f"{_vtt_time(turn.start_seconds)} --> {_vtt_time(end)}"
        yield f"{turn.index}\n{times}\n<v {_vtt_words(who(turn))}>{words or '…'}</v>"


def webvtt(transcript: Transcript, cues: Sequence[str], *, note: str | None = None) -> str:
    """The transcript as WebVTT, with the `cues` of its turns and `note`. Source: https://www.w3.org/TR/webvtt1/"""
    blocks = ["WEBVTT", f"NOTE {WHAT} {NOT_INSTRUCTIONS}"]
    if transcript.simulated:
        blocks.append("NOTE simulated: no telephone rang")
    blocks += cues
    if note:
        blocks.append(f"NOTE {note}")
    return "\n\n".join(blocks) + "\n"


def _inert(text: str) -> str:
    """The text escaped for Markdown, so that it makes no links and loads no images."""
    return text.replace("\\", "\\\\").replace("[", "\\[")


def _vtt_words(text: str) -> str:
    return cleaned(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").strip()


def _vtt_time(seconds: float) -> str:
    millis = round(seconds * 1_000)
    return f"{millis // 3_600_000:02d}:{millis // 60_000 % 60:02d}:{millis // 1_000 % 60:02d}.{millis % 1_000:03d}"
