"""get_recording for a model: a description and a link, and the audio itself only if requested and small."""

from typing import Annotated

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from callwright.contract.calls.calls import Call, GetCall, GetRecording, get_call, get_recording
from callwright.contract.checks.counts import count_of
from callwright.contract.declaration.field_types import Timestamp
from callwright.contract.declaration.model import Resource
from callwright.tools.arguments.arguments import narrowed
from callwright.tools.media.audio_blocks import audio_blocks, small_sound
from callwright.tools.media.external_recordings import foreign_recording
from callwright.tools.runtime.tool import Reply, data_of
from callwright.tools.runtime.tool_context import Session, ToolContext
from callwright.tools.wording.text import clock_time, line, lines, moment

INLINE_BYTES = 200_000
"""Below this many bytes a recording may be part of a reply."""

RESOURCE_BYTES = 750_000
"""Up to this many bytes a recording can be read as a resource. Clients refuse larger messages."""

_WHY_NOT = {
    "deleted": "it was deleted",
    "absent": "nobody spoke on this call",
    "not_recorded": "recording was off",
}


class GetRecordingInline(GetRecording):
    """The call whose recording to find, and whether to send its sound along."""

    inline: Annotated[
        bool,
        Field(description="Send the sound along, if it has fewer than 200,000 bytes."),
    ] = False


class RecordingDetails(Resource):
    """What a recording is and where it can be had."""

    call_id: str
    media_type: str
    size_bytes: int | None
    duration_seconds: int
    channels: int
    kept_until: Annotated[Timestamp | None, Field(description="When it is deleted.")] = None
    simulated: bool
    resource_uri: Annotated[str | None, Field(description="Read it as a resource here.")]
    url: Annotated[str | None, Field(description="Fetch it over HTTP here, with the API key.")]
    inline: Annotated[bool, Field(description="Whether the sound is part of this reply.")]


def recording_url(session: Session, call_id: str, audio_format: str) -> str | None:
    """The REST URL of the recording, if the service answers over HTTP at all."""
    query = "" if audio_format == "mp3" else f"?format={audio_format}"
    return f"{session.base_url}/calls/{call_id}/recording{query}" if session.base_url else None


def where_it_is(url: str | None) -> str:
    """How a person gets a recording that is too large for the protocol."""
    if url:
        return f"Fetch it over HTTP with the API key: {url}"
    return "Start `callwright serve` to fetch it over HTTP."


async def recording(context: ToolContext, asked: GetRecordingInline) -> Reply:
    """A description of the recording, a link to it, and the audio if requested and small."""
    about = await context.client.ask_lenient(get_call, GetCall(call_uuid=asked.call_uuid))
    if (call := about.answer) is None:
        most = INLINE_BYTES - 1 if asked.inline else None
        plain = narrowed(asked, GetRecording)
        return await foreign_recording(context, plain, about.data, inline_bytes=most, resource_bytes=RESOURCE_BYTES)
    if why := _WHY_NOT.get(call.recording.status):
        others = context.hint("list_calls with outcome=[answered] finds others.")
        raise ToolError(f"Call {call.id} has no recording: {why}. {others}".rstrip())
    async with context.client.open(get_recording, narrowed(asked, GetRecording)) as media:
        sound = await small_sound(media, INLINE_BYTES - 1) if asked.inline else None
        url = recording_url(context.session, call.id, asked.format)
        readable = asked.format == "mp3" and (media.size is None or media.size <= RESOURCE_BYTES)
        found = RecordingDetails(
            call_id=call.id,
            media_type=media.media_type,
            size_bytes=media.size if sound is None else len(sound),
            duration_seconds=call.recording.duration_seconds,
            channels=call.recording.channels,
            kept_until=call.recording.kept_until,
            simulated=call.simulated,
            resource_uri=f"callwright://calls/{call.id}/recording" if readable else None,
            url=url,
            inline=sound is not None,
        )
    blocks = audio_blocks(
        f"recording of {call.id}",
        uri=found.resource_uri or found.url,
        media_type=found.media_type,
        size=found.size_bytes,
        sound=sound,
    )
    return Reply(text=_words(call, found, asked, context), data=data_of(found), more=blocks)


def kept_until(call: Call) -> str | None:
    """Until when there is a recording; None without one."""
    until = moment(call.recording.kept_until)
    return f"recording kept until {until}" if until else None


def _words(call: Call, found: RecordingDetails, asked: GetRecordingInline, context: ToolContext) -> str:
    size = f"{found.size_bytes / 1000:.0f} kB" if found.size_bytes is not None else None
    return lines(
        line(
            f"Recording of call {call.id}",
            f"{clock_time(found.duration_seconds)} long",
            found.media_type,
            size,
            "agent left, contact right" if found.channels == 2 else None,
            f"kept until {moment(found.kept_until)}" if found.kept_until else None,
            "simulated" if found.simulated else None,
        ),
        line(call.outcome, call.disposition, count_of(call.turn_count, "turn")),
        context.hint("get_transcript gives the words."),
        "It is too large to send along." if asked.inline and not found.inline else None,
        f"Resource: {found.resource_uri}" if found.resource_uri else where_it_is(found.url),
    )
