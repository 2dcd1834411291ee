"""What the organization uses of its limits, and what happens at each."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.usage import usage_of
from callwright.service.dashboard.visitors import Visitor

PATH = "/settings/usage"


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    services = pages.visitors.services

    async def usage(_: Request, visitor: Visitor) -> Response:
        now_ms = services.clock.now_ms()
        found = await services.database.read(usage_of, visitor.org_id, visitor.user_id, now_ms)
        return shown(visitor, PATH, "usage.html", "Usage", {"usage": found})

    return [pages.route(PATH, usage, here=PATH)]
