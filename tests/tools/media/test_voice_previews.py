"""get_voice_preview: a link to a voice, and its sound where that is asked for."""

import base64

from mcp.types import AudioContent, ResourceLink

from callwright.tools.media.voice_previews import GetVoicePreviewInline, voice_preview
from tests.support.tools.fakes import FakeCaller, FakeMedia, use_of

SOUND = b"ID3" + bytes(9_000)


async def test_a_link_without_the_sound_is_the_default() -> None:
    reply = await voice_preview(use_of(FakeCaller(media=FakeMedia(SOUND))), GetVoicePreviewInline(id="en-US-ada"))
    [link] = reply.more
    assert isinstance(link, ResourceLink)
    assert (str(link.uri), link.mime_type, link.size) == ("callwright://voices/en-US-ada/preview", "audio/mpeg", 9_003)
    assert reply.data == {
        "voice_id": "en-US-ada",
        "language": "en-US",
        "media_type": "audio/mpeg",
        "size_bytes": 9_003,
        "resource_uri": "callwright://voices/en-US-ada/preview",
        "url": "http://127.0.0.1:8080/v1/voices/en-US-ada/preview",
        "inline": False,
    }
    assert reply.text.startswith("Voice en-US-ada  Ada  en-US  9 kB\nResource: callwright://")


async def test_the_sound_comes_along_where_it_is_asked_for() -> None:
    asked = GetVoicePreviewInline(id="en-US-ada", inline=True)
    reply = await voice_preview(use_of(FakeCaller(media=FakeMedia(SOUND))), asked)
    sound = reply.more[1]
    assert isinstance(sound, AudioContent)
    assert base64.b64decode(sound.data) == SOUND
