"""Voices: the text-to-speech voices an agent can have. Read only."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.declaration.field_types import VoiceId
from callwright.contract.declaration.filters import Filter, FilterText
from callwright.contract.declaration.marks import OwnText
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import listing, media, operation
from callwright.contract.declaration.pagination import PageQuery
from callwright.contract.problems import SERVICE_UNAVAILABLE

Gender = Literal["female", "male", "neutral"]


class Voice(Resource):
    """A text-to-speech voice."""

    id: str
    name: OwnText
    provider: OwnText
    gender: Gender
    language: Annotated[OwnText, Field(description="BCP-47 tag of the language the voice is made for.")]
    tier: Literal["standard", "premium"] = "standard"
    status: Literal["active", "deprecated"] = "active"
    is_custom: bool = False


class ListVoices(PageQuery):
    """Voices that can be used."""

    language: Annotated[
        FilterText | None,
        Field(description="Only this language: a tag such as en-US, or en for all English ones."),
        Filter(),
    ] = None
    gender: Annotated[Gender | None, Field(description="Only female, male or neutral voices."), Filter()] = None
    provider: Annotated[FilterText | None, Field(description="Only voices of this provider."), Filter()] = None


class GetVoice(Input):
    """One voice."""

    id: VoiceId


class GetVoicePreview(Input):
    """The voice to hear."""

    id: VoiceId


list_voices = listing(
    "list_voices",
    "/voices",
    takes=ListVoices,
    gives=Voice,
    sorts=("language", "name", "id"),
    summary="List text-to-speech voices.",
)
get_voice = operation("get_voice", "GET /voices/{id}", takes=GetVoice, gives=Voice, summary="Get a voice.")
get_voice_preview = media(
    "get_voice_preview",
    "/voices/{id}/preview",
    takes=GetVoicePreview,
    media_types=("audio/mpeg",),
    problems=(SERVICE_UNAVAILABLE,),
    summary="Hear a voice say a short sentence in its language.",
)
