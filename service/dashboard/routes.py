"""All routes of the dashboard, and the files that its pages load."""

from collections.abc import Awaitable, Callable
from pathlib import PurePosixPath

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.contract.problems import NOT_FOUND
from callwright.service.dashboard.html import rendering
from callwright.service.dashboard.pages import records, search, usage, wallet
from callwright.service.dashboard.pages.accounts import (
    account,
    company_login,
    forgotten_password,
    invitation,
    login,
    members,
    passkeys,
)
from callwright.service.dashboard.pages.calling import (
    agent_versions,
    agents,
    audiences,
    calls,
    campaign_forms,
    campaigns,
    confirmations,
    imports,
    live_calls,
    numbers,
    opt_outs,
    people,
    renting,
    results,
    talks,
)
from callwright.service.dashboard.pages.programs import api_keys, events, replays, routing, webhooks
from callwright.service.dashboard.serving import Pages, said
from callwright.service.dashboard.visitors import LOGIN_PATH, Visitors
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.pipeline import RequestPipeline
from callwright.service.rest.without_key import refusing
from callwright.service.services import Services

_MODULES = (
    *(login, account, forgotten_password, invitation, passkeys, company_login, members, api_keys),
    *(search, confirmations, live_calls, campaign_forms, campaigns, results, calls, people, opt_outs),
    *(agents, agent_versions, talks, audiences, imports, routing, renting, numbers),
    *(events, replays, webhooks, records, wallet, usage),
)
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_OF_PROGRAMS = ("/v1", "/mcp", "/uploads", "/payments", "/twilio", "/static", "/.well-known")
"""The beginnings of addresses that only programs open."""
_FOREVER = "public, max-age=31536000, immutable"


def dashboard_routes(services: Services, pipeline: RequestPipeline) -> list[Route]:
    """The routes of all pages for people who are logged in."""
    pages = Pages(Visitors(services, pipeline))
    made = [route for module in _MODULES for route in module.routes(pages)]
    made.sort(key=_place)
    return [*made, Route("/static/{name:path}", refusing(services, pipeline.refusal_of, _static))]


def _place(route: Route) -> tuple[bool, int]:
    """Fixed addresses first, so that no id takes one of them, and lists before all: routes are tried in their order."""
    return "{" in route.path, route.path.count("/")


def absent_page(services: Services, pipeline: RequestPipeline) -> Callable[[Request], Awaitable[Response | None]]:
    """What a browser gets at an address that is not there; None for a program, and for addresses of programs."""
    visitors = Visitors(services, pipeline)

    async def shown_to(request: Request) -> Response | None:
        is_read = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")
        if not is_read or request.url.path.startswith(_OF_PROGRAMS):
            return None
        with services.database.limited():
            visitor = await visitors.visitor(request)
        back = (LOGIN_PATH, "Log in") if visitor is None else ("/campaigns", "To the campaigns")
        return said(visitor, "Not here", "There is no page at this address.", status=NOT_FOUND.status, back=back)

    return shown_to


async def _static(request: Request) -> Response:
    """A file that pages load. Its address changes with its content, so browsers may keep it for good."""
    name = request.path_params["name"]
    found = rendering.static_file(name)
    media_type = _TYPES.get(PurePosixPath(name).suffix)
    if found is None or media_type is None:
        raise Refusal(NOT_FOUND, "There is no such file.")
    content, tag = found
    headers = {**rendering.HEADERS, "Cache-Control": _FOREVER if request.url.query == tag else "no-cache"}
    return Response(content, headers=headers, media_type=media_type)
