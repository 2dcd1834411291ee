"""Tools for voices."""

from callwright.contract import voices as contract
from callwright.contract.voices import Voice

from .text import line
from .tool import READS, Tool, one_a_line
from .use import Use


def _entry(voice: Voice, _: Use) -> str:
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
            "Voices an agent can speak with. Use it before create_agent or update_agent to pick a voice_id; filter"
            " by language (en finds every English one) and gender. Free, changes nothing. Gives id, name, "
            "language, gender and provider of each voice."
        ),
        hints=READS,
        reply=one_a_line(_entry, empty="No voice fits. Call again with another language, or without filters."),
    ),
    Tool(
        operation=contract.get_voice,
        toolset="agents",
        title="Get a voice",
        description=(
            "One voice by its id, for example to see the language of an agent's voice. To choose among voices use "
            "list_voices. Free, changes nothing. Gives language, gender, provider and whether it is still offered."
        ),
        hints=READS,
        reply=_entry,
    ),
)
