"""The versions of an agent: what it said in each, what has changed since, and bringing one back."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract.agents import agents as contract
from callwright.service.dashboard.html.field_names import label_of
from callwright.service.dashboard.listings import Column, ListPage, column
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor

HERE = "/agents"
_LONGEST_NUMBER = 15
VERSIONS = ListPage(
    "",
    "Versions",
    contract.list_agent_versions,
    (
        column("version", "count", link="/agents/{agent_id}/versions/{version}"),
        Column("Made", "created_at", "moment"),
        column("actor_label"),
        column("welcome_message", is_second=True),
        column("restored_from", "count", is_second=True),
    ),
    "Each change of what the agent says makes a version.",
)


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def version(request: Request, visitor: Visitor) -> Response:
        place = request.path_params
        now = await visitor.ask.one(contract.get_agent, id=place["id"], compare_to=place["number"])
        then = await visitor.ask.one(contract.get_agent, id=place["id"], version=place["number"])
        changed = [{**one, "label": label_of(one["field"])} for one in now["differences"]]
        title = f"{now['name']}, version {place['number']}"
        context = {"agent": now, "then": then, "number": place["number"], "changed": changed, "label_of": label_of}
        return shown(visitor, HERE, "agent_version.html", title, context)

    async def restore(request: Request, visitor: Visitor) -> Response:
        place = request.path_params
        page = f"{HERE}/{place['id']}"
        if request.method != "POST":
            return RedirectResponse(f"{page}/versions/{place['number']}", 303)
        await pages.visitors.form(request, visitor)
        number: str = place["number"]
        wanted = int(number) if number.isascii() and number.isdigit() and len(number) < _LONGEST_NUMBER else number
        await visitor.ask.one(contract.update_agent, id=place["id"], restore_version=wanted)
        return RedirectResponse(page, 303)

    at = f"{HERE}/{{id}}/versions/{{number}}"
    return [
        pages.route(at, version, here=HERE),
        pages.route(f"{at}/restore", restore, methods=("GET", "POST"), here=HERE, for_members=True),
    ]
