"""The audio of a call or a voice in a reply: a link to it, and the audio itself if it is wanted and small."""

import base64

from mcp.types import AudioContent, ContentBlock, ResourceLink

from callwright.client.errors import AnswerTooLarge
from callwright.tools.runtime.tool_context import Media


def audio_blocks(
    name: str, *, uri: str | None, media_type: str, size: int | None, sound: bytes | None
) -> tuple[ContentBlock, ...]:
    """A link if there is an address, and the audio if there is any. `size` is in bytes."""
    blocks: list[ContentBlock] = []
    if uri:
        blocks.append(ResourceLink(name=name, uri=uri, mime_type=media_type, size=size))
    if sound is not None:
        blocks.append(AudioContent(data=base64.b64encode(sound).decode("ascii"), mime_type=media_type))
    return tuple(blocks)


async def small_sound(media: Media, max_bytes: int) -> bytes | None:
    """The audio, None if it has more bytes."""
    if media.size is not None and media.size > max_bytes:
        return None
    try:
        return await media.read(max_bytes)
    except AnswerTooLarge:
        return None
