"""Recordings of services that store them elsewhere, read from the call's `recording_url`."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from callwright.client.compat.external_address import sound_type
from callwright.client.errors import AddressUnreadable, CallwrightError
from callwright.contract.calls.calls import GetCall, GetRecording, get_call, get_recording
from callwright.tools.media.audio_blocks import audio_blocks, small_sound
from callwright.tools.media.external_transcripts import needs_another_way
from callwright.tools.runtime.tool import Reply
from callwright.tools.runtime.tool_context import Caller, Media, ToolContext
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import line, lines

_BEGINNINGS = {b"ID3": "audio/mpeg", b"RIFF": "audio/wav", b"OggS": "audio/ogg", b"fLaC": "audio/flac"}


@asynccontextmanager
async def any_recording(
    client: Caller, asked: GetRecording, *, about: dict[str, Any] | None = None
) -> "AsyncGenerator[tuple[Media, str | None]]":
    """The recording from the service itself, or from the address that the call names; then with that address.

    Raises:
        CallwrightError: neither gives it.
    """
    async with AsyncExitStack() as stack:
        url: str | None = None
        try:
            media = await stack.enter_async_context(client.open(get_recording, asked))
        except CallwrightError as error:
            if not needs_another_way(error) or asked.format != "mp3":
                raise
            url = await _address(client, asked, error, about)
            media = await stack.enter_async_context(client.open_address(url, accepts=sound_type))
        yield media, url


async def foreign_recording(
    context: ToolContext, asked: GetRecording, about: dict[str, Any], *, inline_bytes: int | None, resource_bytes: int
) -> Reply:
    """Describes a recording of a call that does not fit the contract's model, and says where it is.

    `inline_bytes` is None if the audio is not wanted in the reply.
    """
    async with any_recording(context.client, asked, about=about) as (media, url):
        sound = await small_sound(media, inline_bytes) if inline_bytes is not None else None
        media_type = sound_of(sound, media.media_type)
        size = media.size if sound is None else len(sound)
    resource = f"callwright://calls/{asked.call_uuid}/recording" if size is None or size <= resource_bytes else None
    seconds = about.get("duration_seconds")
    found: dict[str, Any] = {
        "call_id": asked.call_uuid,
        "media_type": media_type or None,
        "size_bytes": size,
        "duration_seconds": seconds if isinstance(seconds, (int, float)) else None,
        "resource_uri": resource,
        "url": url,
        "inline": sound is not None,
    }
    shown = cleaned(url) if url else None
    text = lines(
        line(
            f"Recording of call {cleaned(asked.call_uuid)}",
            media_type,
            f"{size / 1000:.0f} kB" if size is not None else None,
            f"call of {seconds:g} seconds" if isinstance(seconds, (int, float)) else None,
        ),
        "It is too large to send along." if inline_bytes is not None and sound is None else None,
        f"Resource: {resource}" if resource else None,
        f"Address: {shown}" if shown else None,
    )
    data = {name: value for name, value in found.items() if value is not None}
    name = f"recording of {asked.call_uuid}"
    blocks = audio_blocks(name, uri=resource or url, media_type=media_type, size=size, sound=sound)
    return Reply(text=text, data=data, more=blocks)


def sound_of(sound: bytes | None, told: str) -> str:
    """The media type of a recording: the stated one, else the one that its first bytes show.

    Raises:
        AddressUnreadable: the stated type is not audio, and the bytes are of no known audio format.
    """
    if sound is None or told.startswith("audio/"):
        return told
    known = next((kind for start, kind in _BEGINNINGS.items() if sound.startswith(start)), None)
    if known is None and sound[:1] == b"\xff" and sound[1:2] >= b"\xe0":
        known = "audio/mpeg"
    if known is None:
        raise AddressUnreadable("what stands there is no recording")
    return known


async def _address(client: Caller, asked: GetRecording, refused: CallwrightError, about: dict[str, Any] | None) -> str:
    found = about or (await client.ask_lenient(get_call, GetCall(call_uuid=asked.call_uuid))).data
    url = found.get("recording_url")
    if not isinstance(url, str) or not url:
        raise refused
    return url
