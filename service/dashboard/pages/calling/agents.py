"""Agents: who they are and what they say. Their versions and talking to one are in `agent_versions.py`, `talks.py`."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.contract.agents import agents as contract
from callwright.contract.voices import get_voice_preview, list_voices
from callwright.service.dashboard.files import file_answer
from callwright.service.dashboard.html.cells import sample
from callwright.service.dashboard.html.places import language_name, languages
from callwright.service.dashboard.listings import Column, ListPage, column
from callwright.service.dashboard.pages.calling import agent_versions
from callwright.service.dashboard.pages.lists import listed
from callwright.service.dashboard.resources import (
    Action,
    Fact,
    FormPage,
    ResourcePage,
    fact,
    form_route,
    resource_route,
)
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor

HERE = "/agents"
_WORDS = ("name", "voice_id", "language", "system_prompt", "welcome_message")
_MOST_VOICES = 200
_LIKELY_LANGUAGE = "en-US"
AGENTS = ListPage(
    HERE,
    "Agents",
    contract.list_agents,
    (
        column("name", link="/agents/{id}"),
        column("voice_id"),
        column("language"),
        column("version", "count", is_second=True),
        Column("Changed", "updated_at", "moment", is_second=True),
    ),
    "An agent has a voice, instructions and first words. Make one, then talk to it here before it calls anybody.",
    filters=("name", "language"),
    add=("/agents/new", "New agent"),
)
AGENT = ResourcePage(
    HERE,
    "/agents/{id}",
    contract.get_agent,
    "name",
    (
        fact("welcome_message", "prose"),
        fact("system_prompt", "prose"),
        fact("voice_id"),
        fact("language"),
        fact("version", "count"),
        fact("variables", "list"),
        fact("warnings", "list"),
        Fact("Changed", "updated_at", "moment"),
        Fact("Id", "id", "code"),
    ),
    related=(agent_versions.VERSIONS,),
    actions=(
        Action(
            "delete",
            contract.delete_agent,
            "Delete",
            "The agent is gone for good. Its calls keep their transcripts. It stays while a campaign needs it.",
            is_grave=True,
            leads_to=HERE,
        ),
    ),
    forms=(("/agents/{id}/talk", "Talk to it"), ("/agents/{id}/edit", "Change")),
    links=(("/calls?agent_id={id}", "Calls"),),
)


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def voices(_: Request, visitor: Visitor) -> Response:
        samples = defaultdict[str, list[Markup]](list)
        for voice in (await visitor.ask.many(list_voices, per_page=_MOST_VOICES)).data:
            samples[voice["language"]].append(
                sample(voice["name"], voice["gender"], f"/agents/voices/{voice['id']}.mp3")
            )
        by_language = [(name, Markup("".join(samples[tag]))) for tag, name in languages(samples)]
        return shown(visitor, HERE, "voices.html", "Voices", {"by_language": by_language})

    async def preview(request: Request, visitor: Visitor) -> Response:
        return await file_answer(request, visitor, get_voice_preview, id=request.path_params["id"])

    new = FormPage(
        HERE,
        "/agents/new",
        "New agent",
        contract.create_agent,
        _WORDS,
        "Make the agent",
        leads_to="/agents/{id}",
        choices=_choices,
        presets=_likely_voice,
        completes=_language_of_voice,
    )
    edit = FormPage(
        HERE,
        "/agents/{id}/edit",
        "Change the agent",
        contract.update_agent,
        _WORDS,
        "Save",
        intro="A change of what it says makes a new version. Campaigns that have started keep theirs.",
        leads_to="/agents/{id}",
        reads=contract.get_agent,
        choices=_choices,
        completes=_language_of_voice,
    )
    return [
        listed(pages, AGENTS),
        pages.route("/agents/voices", voices, here=HERE),
        pages.route("/agents/voices/{id}.mp3", preview, here=HERE),
        form_route(pages, new),
        *resource_route(pages, AGENT),
        form_route(pages, edit),
    ]


async def _choices(visitor: Visitor) -> Mapping[str, Sequence[tuple[str, str]]]:
    found = (await visitor.ask.many(list_voices, per_page=_MOST_VOICES)).data
    named = sorted((language_name(voice["language"]), voice["name"], voice["id"]) for voice in found)
    return {
        "voice_id": [(voice_id, f"{language}: {name}") for language, name, voice_id in named],
        "language": [("", "the language of the voice"), *languages(voice["language"] for voice in found)],
    }


async def _likely_voice(visitor: Visitor, given: dict[str, Any]) -> None:
    """The voice of the newest agent, or an American one: an organization mostly calls in one language."""
    newest = (await visitor.ask.many(contract.list_agents, per_page=1)).data
    likely = newest or (await visitor.ask.many(list_voices, language=_LIKELY_LANGUAGE, per_page=1)).data
    given["voice_id"] = likely[0].get("voice_id", likely[0]["id"]) if likely else None
    given["language"] = ""


async def _language_of_voice(visitor: Visitor, sent: dict[str, Any]) -> None:
    """The language where none is chosen. A voice that is not known is left to the operation to refuse."""
    if not sent.get("language") and sent.get("voice_id"):
        found = await visitor.ask.many(list_voices, per_page=_MOST_VOICES)
        spoken = {voice["id"]: voice["language"] for voice in found.data}
        sent.pop("language", None)
        if sent["voice_id"] in spoken:
            sent["language"] = spoken[sent["voice_id"]]
