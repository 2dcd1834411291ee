"""Transcripts as a model, a person or a player reads them: lines, Markdown, WebVTT."""

from callwright.contract.calls import Call, GetTranscript, Transcript, TranscriptTurn, get_transcript

from .text import clock_time, line, lines
from .untrusted import cleaned, fenced
from .use import Caller

_TURNS_AT_ONCE = 200
_MOST_PAGES = 20

WHAT = "Transcript of a call."


async def whole_transcript(client: Caller, call_id: str) -> Transcript:
    """All turns of a call, 4,000 at most; `next_cursor` is still there when some are missing."""
    found = await client.ask(get_transcript, GetTranscript(call_uuid=call_id, per_page=_TURNS_AT_ONCE))
    turns, cursor = list(found.turns), found.next_cursor
    for _ in range(_MOST_PAGES - 1):
        if cursor is None:
            break
        asked = GetTranscript(call_uuid=call_id, per_page=_TURNS_AT_ONCE, cursor=cursor)
        part = await client.ask(get_transcript, asked)
        turns += part.turns
        cursor = part.next_cursor
    return found.model_copy(update={"turns": turns, "next_cursor": cursor})


def heading(transcript: Transcript) -> str:
    """What the transcript is, without a word of what was said."""
    return line(
        transcript.call_id,
        transcript.language,
        f"{transcript.turn_count} turns",
        clock_time(transcript.duration_seconds),
        "simulated" if transcript.simulated else None,
    )


def absence(transcript: Transcript) -> str | None:
    """Why there are no turns, if there are none."""
    if transcript.turns:
        return None
    if transcript.status == "processing":
        return "The transcript is still being written; ask again in a moment."
    return "There is no transcript: nobody spoke on this call."


def turn_lines(turns: list[TranscriptTurn]) -> list[str]:
    """One line a turn: index, time, speaker, words."""
    return [
        f"[{turn.index}] {clock_time(turn.start_seconds)} {turn.role}: {turn.text}{' —' if turn.interrupted else ''}"
        for turn in turns
    ]


def markdown(transcript: Transcript, call: Call, *, tag: str) -> str:
    """The transcript as Markdown, its turns fenced as untrusted under `tag`."""
    title = f"# Transcript of call {transcript.call_id}"
    facts = [
        f"- outcome: {call.outcome or call.status}",
        f"- disposition: {call.disposition}" if call.disposition else None,
        f"- agent: {call.agent_id}",
        f"- deployment: {call.deployment_id}" if call.deployment_id else None,
        f"- length: {clock_time(transcript.duration_seconds)}, {transcript.turn_count} turns, {transcript.language}",
        "- simulated: no telephone rang" if transcript.simulated else None,
    ]
    turns = [
        f"**{turn.role}** ({clock_time(turn.start_seconds)}, turn {turn.index}): {turn.text}\n"
        for turn in transcript.turns
    ]
    body = absence(transcript) or fenced(turns, tag=tag, what=WHAT, between="\n\n")
    return f"{title}\n\n{lines(*facts)}\n\n{body}\n"


def webvtt(transcript: Transcript) -> str:
    """The transcript as WebVTT with a voice tag for each speaker. Source: https://www.w3.org/TR/webvtt1/"""
    blocks = ["WEBVTT"]
    if transcript.simulated:
        blocks.append("NOTE simulated: no telephone rang")
    for turn in transcript.turns:
        end = max(turn.end_seconds, turn.start_seconds + 0.001)
        words = cleaned(turn.text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").strip()
        times = f"{_vtt_time(turn.start_seconds)} --> {_vtt_time(end)}"
        blocks.append(f"{turn.index}\n{times}\n<v {turn.role}>{words or '…'}</v>")
    return "\n\n".join(blocks) + "\n"


def _vtt_time(seconds: float) -> str:
    millis = round(seconds * 1_000)
    return f"{millis // 3_600_000:02d}:{millis // 60_000 % 60:02d}:{millis // 1_000 % 60:02d}.{millis % 1_000:03d}"
