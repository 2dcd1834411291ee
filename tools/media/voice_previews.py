"""get_voice_preview for a model: a link to a voice's preview, and the audio itself if requested."""

from typing import Annotated

from pydantic import Field

from callwright.contract.declaration.model import Resource
from callwright.contract.voices import GetVoice, GetVoicePreview, get_voice, get_voice_preview
from callwright.tools.arguments.arguments import narrowed
from callwright.tools.media.audio_blocks import audio_blocks
from callwright.tools.media.recordings import INLINE_BYTES, where_it_is
from callwright.tools.runtime.tool import READS, Reply, Tool, data_of, no_text
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import line, lines


class GetVoicePreviewInline(GetVoicePreview):
    """The voice to hear, and whether to send its audio along."""

    inline: Annotated[bool, Field(description="Send the sound in the reply. false gives a link only.")] = False


class VoicePreview(Resource):
    """Where a voice can be heard."""

    voice_id: str
    language: str
    media_type: str
    size_bytes: int
    resource_uri: Annotated[str, Field(description="Read it as a resource here.")]
    url: Annotated[str | None, Field(description="Fetch it over HTTP here, with the API key.")]
    inline: Annotated[bool, Field(description="Whether the sound is part of this reply.")]


async def voice_preview(context: ToolContext, asked: GetVoicePreviewInline) -> Reply:
    """A link to a voice's preview, and the audio if requested."""
    voice = await context.client.ask(get_voice, GetVoice(id=asked.id))
    async with context.client.open(get_voice_preview, narrowed(asked, GetVoicePreview)) as media:
        sound = await media.read(INLINE_BYTES)
        base_url = context.session.base_url
        found = VoicePreview(
            voice_id=voice.id,
            language=voice.language,
            media_type=media.media_type,
            size_bytes=len(sound),
            resource_uri=f"callwright://voices/{voice.id}/preview",
            url=f"{base_url}/voices/{voice.id}/preview" if base_url else None,
            inline=asked.inline,
        )
    blocks = audio_blocks(
        f"preview of {voice.id}",
        uri=found.resource_uri,
        media_type=found.media_type,
        size=found.size_bytes,
        sound=sound if asked.inline else None,
    )
    return Reply(
        text=lines(
            line(f"Voice {voice.id}", voice.name, voice.language, f"{found.size_bytes / 1000:.0f} kB"),
            f"Resource: {found.resource_uri}",
            where_it_is(found.url),
        ),
        data=data_of(found),
        more=blocks,
    )


TOOL = Tool(
    operation=get_voice_preview,
    toolset="upkeep",
    title="Hear a voice",
    description=(
        "A short sentence spoken by a voice, in its language: a link for the person to listen to; with inline=true the "
        "sound itself. Use it when the person wants to hear a voice before choosing. To find voices use list_voices. "
        "Free."
    ),
    hints=READS,
    reply=no_text,
    input_model=GetVoicePreviewInline,
    output_model=VoicePreview,
    handler=voice_preview,
)
