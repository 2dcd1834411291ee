"""Talking to an agent in the browser: what it needs to know of the person, then the page of the talk."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract.agents.agents import get_agent
from callwright.contract.deployments.talks import talk_to_agent
from callwright.service.dashboard.asking import Refused
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor, one

HERE = "/agents"
FROM_DASHBOARD = "dashboard"
"""What tells the page of a talk that its person has the dashboard, to which it then leads back."""
_COLUMN = "column-"
"""The beginning of the name of a field for a column: columns are called by people, and might be called as a token."""


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def talk(request: Request, visitor: Visitor) -> Response:
        agent = await visitor.ask.one(get_agent, id=request.path_params["id"])
        given = dict.fromkeys(agent["variables"], "")
        refused: Refused | None = None
        if request.method == "POST":
            fields = await pages.visitors.form(request, visitor)
            given = {name: one(fields, f"{_COLUMN}{name}") for name in given}
            known = {name: value for name, value in given.items() if value}
            try:
                made = await visitor.ask.one(talk_to_agent, id=agent["id"], variables=known)
            except Refused as error:
                refused = error
            else:
                address, _, token = made["url"].partition("#")
                return RedirectResponse(f"{address}?{FROM_DASHBOARD}#{token}", 303)
        context = {
            "agent": agent,
            "columns": [(f"{_COLUMN}{name}", name, value) for name, value in given.items()],
            "refused": None if refused is None else refused.message.replace("variables:", "The agent", 1),
        }
        title = f"Talk to {agent['name']}"
        status = 200 if refused is None else refused.status
        return shown(visitor, HERE, "talk_to_agent.html", title, context, status=status)

    return [pages.route("/agents/{id}/talk", talk, methods=("GET", "POST"), here=HERE, for_members=True)]
