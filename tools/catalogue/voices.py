"""Tools for voices."""

from callwright.contract import voices as contract
from callwright.contract.voices import Voice
from callwright.tools.media.voice_previews import TOOL as GET_VOICE_PREVIEW
from callwright.tools.runtime.tool import READS, Tool
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import line


def _entry(voice: Voice, _: ToolContext) -> str:
    return line(
        voice.id,
        voice.name,
        voice.language,
        voice.gender,
        voice.provider,
        voice.tier if voice.tier != "standard" else None,
        voice.status if voice.status != "active" else None,
    )


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.list_voices,
        toolset="agents",
        title="List voices",
        description=(
            "Voices an agent can have. Choose one in the language of the people who are called. For an agent's "
            "voice use get_agent. Free."
        ),
        hints=READS,
        reply=_entry,
        empty="No voice fits. Call again with another language, or without filters.",
        default_fields=("id", "name", "language", "gender"),
        hidden=frozenset({"sort", "provider", "fields"}),
        argument_descriptions={
            "language": "A tag such as en-US, or en for every English voice.",
            "gender": "Only these voices.",
        },
    ),
    Tool(
        operation=contract.get_voice,
        toolset="upkeep",
        title="Get a voice",
        description=(
            "One voice by its id: language, gender, provider, and whether it is still offered. Use it for the voice_id "
            "an agent has. To choose among voices use list_voices. Free."
        ),
        hints=READS,
        reply=_entry,
    ),
    GET_VOICE_PREVIEW,
)
