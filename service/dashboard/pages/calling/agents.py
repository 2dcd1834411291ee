"""Agents: who they are and what they say, their versions, and talking to one in the browser."""

from collections.abc import Mapping, Sequence

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract.agents import agents as contract
from callwright.contract.deployments.talks import talk_to_agent
from callwright.contract.voices import list_voices
from callwright.service.dashboard.listings import Column, ListPage
from callwright.service.dashboard.pages.lists import listed
from callwright.service.dashboard.resources import Action, Fact, FormPage, ResourcePage, form_route, resource_route
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor

HERE = "/agents"
_WORDS = ("name", "voice_id", "language", "system_prompt", "welcome_message")
_MOST_VOICES = 200
AGENTS = ListPage(
    HERE,
    "Agents",
    contract.list_agents,
    (
        Column("Name", "name", link="/agents/{id}"),
        Column("Voice", "voice_id"),
        Column("Language", "language"),
        Column("Version", "version", "count", is_second=True),
        Column("Changed", "updated_at", "moment", is_second=True),
    ),
    "An agent has a voice, a prompt and a first sentence. Make one, then talk to it here before it calls anybody.",
    filters=("name", "language"),
    add=("/agents/new", "New agent"),
)
VERSIONS = ListPage(
    "",
    "Versions",
    contract.list_agent_versions,
    (
        Column("Version", "version", "count"),
        Column("Made", "created_at", "moment"),
        Column("By", "actor_label"),
        Column("First words", "welcome_message", is_second=True),
        Column("Brought back from", "restored_from", "count", is_second=True),
    ),
    "Each change of what the agent says makes a version.",
)
AGENT = ResourcePage(
    HERE,
    "/agents/{id}",
    contract.get_agent,
    "name",
    (
        Fact("First words", "welcome_message", "prose"),
        Fact("Prompt", "system_prompt", "prose"),
        Fact("Voice", "voice_id"),
        Fact("Language", "language"),
        Fact("Version", "version", "count"),
        Fact("Columns that it uses", "variables", "list"),
        Fact("Warnings", "warnings", "list"),
        Fact("Changed", "updated_at", "moment"),
        Fact("Id", "id", "code"),
    ),
    related=(VERSIONS,),
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
    links=(("/agents/{id}/talk", "Talk to it"), ("/agents/{id}/edit", "Change"), ("/calls?agent_id={id}", "Calls")),
)


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def talk(request: Request, visitor: Visitor) -> Response:
        agent_id = request.path_params["id"]
        if request.method == "POST":
            await pages.visitors.form(request, visitor)
            made = await visitor.ask.one(talk_to_agent, id=agent_id)
            return RedirectResponse(made["url"], 303)
        agent = await visitor.ask.one(contract.get_agent, id=agent_id)
        return shown(visitor, HERE, "talk_to_agent.html", f"Talk to {agent['name']}", {"agent": agent})

    new = FormPage(
        HERE,
        "/agents/new",
        "New agent",
        contract.create_agent,
        _WORDS,
        "Make the agent",
        leads_to="/agents/{id}",
        choices=_voices,
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
        choices=_voices,
    )
    return [
        listed(pages, AGENTS),
        form_route(pages, new),
        *resource_route(pages, AGENT),
        form_route(pages, edit),
        pages.route("/agents/{id}/talk", talk, methods=("GET", "POST"), here=HERE),
    ]


async def _voices(visitor: Visitor) -> Mapping[str, Sequence[tuple[str, str]]]:
    found = (await visitor.ask.many(list_voices, per_page=_MOST_VOICES)).data
    return {"voice_id": [(voice["id"], f"{voice['name']}, {voice['language']}") for voice in found]}
