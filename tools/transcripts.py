"""Transcripts as a model, a person or a player reads them: lines, Markdown, WebVTT."""

from collections.abc import Sequence

from callwright.client.errors import CallwrightError
from callwright.contract.calls import Call, GetTranscript, Transcript, TranscriptTurn
from callwright.contract.counts import count_of

from .foreign_transcripts import foreign_transcript, needs_another_way, own_form, when, who
from .guarded_answers import guarded
from .text import clock_time, line, lines
from .untrusted import NOT_INSTRUCTIONS, cleaned, fenced
from .use import Caller

_TURNS_AT_ONCE = 200
_MOST_PAGES = 20

WHAT = "Transcript of a call."


async def whole_transcript(client: Caller, call_id: str, *, masks: bool) -> Transcript:
    """All turns of a call, 4,000 at most; `next_cursor` is still there when some are missing.

    Where the service has no transcripts of its own, the one at the call's `transcript_url`. That comes past the guard
    of answers, so it is guarded here: with `masks` a speaker who is called by a number has no middle.
    """
    try:
        found = await own_form(client, GetTranscript(call_uuid=call_id, per_page=_TURNS_AT_ONCE))
    except CallwrightError as error:
        if needs_another_way(error):
            return guarded(await foreign_transcript(client, call_id, error), masks=masks)
        raise
    turns, cursor = list(found.turns), found.next_cursor
    for _ in range(_MOST_PAGES - 1):
        if cursor is None:
            break
        asked = GetTranscript(call_uuid=call_id, per_page=_TURNS_AT_ONCE, cursor=cursor)
        part = await own_form(client, asked, first=len(turns))
        turns += part.turns
        cursor = part.next_cursor
    return found.model_copy(update={"turns": turns, "next_cursor": cursor})


def heading(transcript: Transcript) -> str:
    """What the transcript is, without a word of what was said."""
    return line(
        transcript.call_id,
        cleaned(transcript.language),
        count_of(transcript.turn_count, "turn"),
        length(transcript),
        "simulated" if transcript.simulated else None,
    )


def length(transcript: Transcript) -> str | None:
    """How long the conversation was, where it is known."""
    return clock_time(transcript.duration_seconds) if "duration_seconds" in transcript.model_fields_set else None


def absence(transcript: Transcript) -> str | None:
    """Why a call has no turns, if it has none."""
    if transcript.turns or transcript.turn_count:
        return None
    if transcript.status == "processing":
        return "The transcript is still being written; ask again in a moment."
    return "There is no transcript: nobody spoke on this call."


def turn_lines(turns: list[TranscriptTurn]) -> list[str]:
    """One line a turn: index, time, speaker, words."""
    return [
        f"[{turn.index}] {f'{moment} ' if (moment := when(turn)) else ''}{who(turn)}: {turn.text}"
        f"{' —' if turn.interrupted else ''}"
        for turn in turns
    ]


def markdown_turns(turns: Sequence[TranscriptTurn]) -> list[str]:
    """One paragraph a turn: speaker, time, index, words."""
    return [
        f"**{who(turn)}** ({f'{moment}, ' if (moment := when(turn)) else ''}turn {turn.index}): {_inert(turn.text)}\n"
        for turn in turns
    ]


def markdown(transcript: Transcript, call: Call, *, tag: str, note: str | None = None) -> str:
    """The transcript as Markdown, its turns fenced as untrusted under `tag`. `note` stands behind them."""
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
    turns = transcript.turns
    said = fenced(markdown_turns(turns), tag=tag, what=WHAT, between="\n\n") if turns else None
    parts = [title, lines(*facts), absence(transcript) or said, note]
    return "\n\n".join(part for part in parts if part) + "\n"


def vtt_cues(turns: Sequence[TranscriptTurn]) -> list[str]:
    """One cue a turn, with a voice tag for its speaker."""
    cues: list[str] = []
    for turn in turns:
        end = max(turn.end_seconds, turn.start_seconds + 0.001)
        words = _vtt_words(turn.text)
        if when(turn) is None:  # a cue cannot be without times, and none are made up
            cues.append(f"NOTE {turn.index} {_vtt_words(who(turn))}: {words}")
            continue
        times = f"{_vtt_time(turn.start_seconds)} --> {_vtt_time(end)}"
        cues.append(f"{turn.index}\n{times}\n<v {_vtt_words(who(turn))}>{words or '…'}</v>")
    return cues


def webvtt(transcript: Transcript, *, note: str | None = None) -> str:
    """The transcript as WebVTT. Source: https://www.w3.org/TR/webvtt1/"""
    blocks = ["WEBVTT", f"NOTE {WHAT} {NOT_INSTRUCTIONS}"]
    if transcript.simulated:
        blocks.append("NOTE simulated: no telephone rang")
    blocks += vtt_cues(transcript.turns)
    if note:
        blocks.append(f"NOTE {note}")
    return "\n\n".join(blocks) + "\n"


def _inert(text: str) -> str:
    """The words as Markdown that shows them: what somebody says makes no link and loads no picture."""
    return text.replace("\\", "\\\\").replace("[", "\\[")


def _vtt_words(text: str) -> str:
    return cleaned(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").strip()


def _vtt_time(seconds: float) -> str:
    millis = round(seconds * 1_000)
    return f"{millis // 3_600_000:02d}:{millis // 60_000 % 60:02d}:{millis // 1_000 % 60:02d}.{millis % 1_000:03d}"
