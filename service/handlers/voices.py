"""Voices."""

from callwright.contract import voices as contract
from callwright.contract.declaration.pagination import Page
from callwright.service.handlers.request_context import RequestContext, handles, handles_media
from callwright.service.handlers.resources import resource
from callwright.service.platform.database.listing import page_of_values, sort_fields
from callwright.service.platform.refusals import not_found
from callwright.service.speech.greetings import greeting
from callwright.service.speech.recording_content import RecordingContent
from callwright.service.speech.recordings import MediaType
from callwright.service.speech.voices import VOICES, Voice, voice
from callwright.service.telephony.engine import Turn
from callwright.service.telephony.simulated.conversation.timing import spoken_duration_s


def _to_resource(found: Voice) -> contract.Voice:
    return resource(contract.Voice, found)


def _speaks(found: Voice, language: str) -> bool:
    tag, wanted = found.language.lower(), language.lower()
    return tag == wanted or tag.startswith(wanted + "-")


@handles(contract.list_voices)
def list_voices(asked: contract.ListVoices, context: RequestContext) -> Page[contract.Voice]:
    """A page of voices."""
    shown = [
        _to_resource(found)
        for found in VOICES
        if (asked.language is None or _speaks(found, asked.language))
        and (asked.gender is None or found.gender == asked.gender)
        and (asked.provider is None or found.provider == asked.provider)
    ]
    for name, descends in reversed(sort_fields(contract.list_voices, asked.sort or "language,name,id")):
        shown.sort(key=lambda entry: str(getattr(entry, name)), reverse=descends)
    return page_of_values(
        context.cursors, contract.list_voices, asked, shown, org_id=context.org_id, key=lambda entry: entry.id
    )


@handles(contract.get_voice)
def get_voice(asked: contract.GetVoice, context: RequestContext) -> contract.Voice:
    """One voice."""
    found = voice(asked.id)
    if found is None:
        raise not_found()
    return _to_resource(found)


@handles_media(contract.get_voice_preview)
def get_voice_preview(asked: contract.GetVoicePreview, context: RequestContext) -> tuple[RecordingContent, MediaType]:
    """A sentence of the voice in the left channel, made like the recording of a call."""
    found = voice(asked.id)
    if found is None:
        raise not_found()
    text = greeting(found.language)
    end_s = spoken_duration_s(text, found.language)
    turn = Turn(index=0, speaker="agent", text=text, start_s=0.0, end_s=end_s, language=found.language)
    content = RecordingContent(
        call_id=f"preview {found.id}",
        duration_s=end_s,
        turns=(turn,),
        agent_voice_id=found.id,
        agent_language=found.language,
        seed=found.id,
    )
    return content, "audio/mpeg"
