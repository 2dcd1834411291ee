"""Calls as resources: the record, the transcript in its forms, the recording."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, cast

from anyio import to_thread
from mcp.server.mcpserver.exceptions import ResourceError

from callwright.client.errors import AnswerTooLarge
from callwright.contract.calls.calls import Call, GetCall, GetRecording, Transcript, TranscriptTurn, get_call
from callwright.contract.checks.counts import count_of
from callwright.server.mcp.resources.content import Content, json_entry, json_text, parts_that_fit
from callwright.server.mcp.resources.resources import Address, BadAddress
from callwright.server.mcp.resources.sound import Mp3Frames, NotAnMp3, cut, frames_of
from callwright.server.mcp.session import ServerSession
from callwright.tools.media.external_recordings import any_recording, sound_of
from callwright.tools.media.external_transcripts import call_of, only_said, only_said_of_turn
from callwright.tools.media.recordings import RESOURCE_BYTES, recording_url, where_it_is
from callwright.tools.media.transcripts import (
    absence,
    markdown,
    markdown_turns,
    vtt_cues,
    webvtt,
    whole_transcript,
)
from callwright.tools.runtime.guarded import client_of
from callwright.tools.runtime.tool import data_of
from callwright.tools.wording.cleaning import cleaned, cleaned_at
from callwright.tools.wording.text import masked, shortened

_HOUR_OF_SOUND_BYTES = 20_000_000
"""More than any recording has: the longest call lasts an hour, 14.4 MB."""
_MOST_OF_A_TURN = 10_000


@dataclass(frozen=True)
class CallSection:
    """The requested part of a call. Times are in seconds after the answer; None sets no limit."""

    from_s: float | None
    to_s: float | None
    speaker: str | None

    def has(self, turn: TranscriptTurn) -> bool:
        """Whether a turn is within the part and of its speaker."""
        return (
            (self.from_s is None or turn.end_seconds > self.from_s)
            and (self.to_s is None or turn.start_seconds < self.to_s)
            and (self.speaker is None or turn.role == self.speaker)
        )


def section_of(values: Mapping[str, str]) -> CallSection:
    """The part that an address requests. Raises BadAddress."""
    from_s, to_s = (_seconds(name, values.get(name)) for name in ("from", "to"))
    if to_s is not None and to_s <= (from_s or 0):
        raise BadAddress("to must be greater than from: both are seconds after the answer.")
    speaker = values.get("speaker")
    if speaker not in (None, "agent", "contact"):
        raise BadAddress("speaker must be agent or contact.")
    return CallSection(from_s, to_s, speaker)


async def call(session: ServerSession, address: Address) -> Content:
    """The record of a call. The contact's number is masked unless the session shows numbers."""
    client = await client_of(session)
    found_call = await client.ask_lenient(get_call, GetCall(call_uuid=address.values["call_id"]))
    if (found := found_call.answer) is None:
        return json_text(found_call.data, whole_with="get_call gives them whole")
    data = data_of(found)
    if session.masks:
        theirs = "to" if found.call_type == "outbound" else "from"
        data[theirs] = masked(data[theirs])
    cleaned_at(data, "unanswered_questions")
    variables = cast("dict[str, str]", data.get("variables", {}))
    data["variables"] = {cleaned(name): cleaned(value) for name, value in variables.items()}
    return json_text(data, whole_with="get_call gives them whole")


async def transcript_markdown(session: ServerSession, address: Address) -> Content:
    """The turns as Markdown, fenced."""
    found, about, wanted = await _transcript(session, address, with_call=True)
    paragraphs = parts_that_fit(markdown_turns(wanted))
    shown, note = _with(found, wanted[: len(paragraphs)]), _left(found, wanted, len(paragraphs), address)
    return Content(markdown(shown, cast("Call", about), paragraphs, tag=session.ids(), note=note))


async def transcript_json(session: ServerSession, address: Address) -> Content:
    """The turns as data."""
    found, _, wanted = await _transcript(session, address)
    turns: list[dict[str, Any]] = []

    def written() -> Iterator[str]:
        for turn in wanted:
            shown = {**data_of(turn), "text": cleaned(turn.text)}
            cleaned_at(shown, "tool_call.arguments")
            cleaned_at(shown, "tool_call.result")
            turns.append(only_said_of_turn(shown, turn))
            yield json_entry(turns[-1])

    entries = parts_that_fit(written())
    count = len(entries)
    shown = _with(found, wanted[:count]).model_copy(update={"next_cursor": None})
    data = {**only_said(data_of(_with(shown, [])), _with(shown, [])), "turns": turns[:count]}
    if note := _left(found, wanted, count, address):
        data |= {"turns_left": len(wanted) - count, "note": note}
    return json_text(data, whole_with="get_transcript gives them whole", entries={"turns": entries})


async def transcript_vtt(session: ServerSession, address: Address) -> Content:
    """The turns as subtitles. Raises ResourceError if nobody spoke."""
    found, _, wanted = await _transcript(session, address)
    if missing := absence(found):
        raise ResourceError(missing)
    cues = parts_that_fit(vtt_cues(wanted))
    note = _left(found, wanted, len(cues), address)
    return Content(webvtt(_with(found, wanted[: len(cues)]), cues, note=note))


async def recording(session: ServerSession, address: Address) -> Content:
    """The recording, or the requested part of it; a text that says how to get it if it is too large."""
    part = section_of(address.values)
    client, call_id = await client_of(session), address.values["call_id"]
    async with any_recording(client, GetRecording(call_uuid=call_id)) as (media, url):
        try:
            sound = await media.read(RESOURCE_BYTES if url else _HOUR_OF_SOUND_BYTES)
        except AnswerTooLarge as error:
            where = f"It is larger than {RESOURCE_BYTES:,} bytes: {cleaned(url)}" if url else None
            raise ResourceError(where or _too_large(session, address, None, part)) from error
        if url and part == CallSection(None, None, None):
            return Content(sound, sound_of(sound, media.media_type))
    narrowed = part.from_s is not None or part.to_s is not None
    if not narrowed and len(sound) <= RESOURCE_BYTES:
        return Content(sound)
    try:
        frames = await to_thread.run_sync(frames_of, sound)
    except NotAnMp3 as error:
        if narrowed:
            raise ResourceError(
                "No part can be cut out of this recording: read it whole, without from and to."
            ) from error
        return Content(_too_large(session, address, None, part), "text/plain")
    if narrowed:
        if (part.from_s or 0) >= frames.duration_s:
            raise BadAddress(f"from must be less than {frames.duration_s:.0f}: that is where the recording ends.")
        sound = cut(sound, frames, from_s=part.from_s or 0.0, to_s=part.to_s)
    if len(sound) <= RESOURCE_BYTES:
        return Content(sound)
    return Content(_too_large(session, address, frames, part), "text/plain")


async def _transcript(
    session: ServerSession, address: Address, *, with_call: bool = False
) -> tuple[Transcript, Call | None, list[TranscriptTurn]]:
    """The whole transcript, its call if wanted, and the turns of the requested part."""
    part = section_of(address.values)
    client, call_id = await client_of(session), address.values["call_id"]
    found_call = await client.ask_lenient(get_call, GetCall(call_uuid=call_id)) if with_call else None
    about = None if found_call is None else found_call.answer or call_of(found_call.data)
    found = await whole_transcript(client, call_id, masks=session.masks)
    return found, about, [_of_readable_length(turn) for turn in found.turns if part.has(turn)]


def _of_readable_length(turn: TranscriptTurn) -> TranscriptTurn:
    if len(turn.text) <= _MOST_OF_A_TURN:
        return turn
    return turn.model_copy(update={"text": shortened(turn.text, _MOST_OF_A_TURN)})


def _with(found: Transcript, turns: list[TranscriptTurn]) -> Transcript:
    return found.model_copy(update={"turns": turns})


def _left(found: Transcript, wanted: list[TranscriptTurn], count: int, address: Address) -> str | None:
    """A note about requested turns that are not included, and how to get them."""
    left = wanted[count:]
    if left:
        turns = count_of(len(left), "turn is", "turns are")
        least = "At least " if found.next_cursor else ""
        return f"{least}{turns} left: read {address.but(**{'from': _plain(left[0].start_seconds)})}"
    if found.next_cursor:
        return f"Turns from {found.turns[-1].index + 1} on are left: get_transcript with from_turn reads them."
    return None if wanted or not found.turns else "No turn fits what was asked for."


def _too_large(session: ServerSession, address: Address, frames: Mp3Frames | None, part: CallSection) -> str:
    what = "The part asked for" if part.from_s is not None or part.to_s is not None else "The recording"
    said = f"{what} is larger than {RESOURCE_BYTES:,} bytes, too large for a resource."
    if frames is not None:
        most_s = int(RESOURCE_BYTES * 0.98 / frames.bytes_a_second)
        begin = part.from_s or 0.0
        fits = address.but(**{"from": _plain(begin), "to": _plain(begin + most_s)})
        said = f"{said} It lasts {frames.duration_s:.0f} seconds; {most_s} of them fit: read {fits}"
    return f"{said} {where_it_is(recording_url(session, address.values['call_id'], 'mp3'))}"


def _seconds(name: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not isfinite(value) or value < 0:
        raise BadAddress(f"{name} must be a number of seconds after the answer, for example 12.5.")
    return value


def _plain(seconds: float) -> str:
    return f"{seconds:.3f}".rstrip("0").rstrip(".")
