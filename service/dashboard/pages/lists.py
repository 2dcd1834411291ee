"""The route of a list that needs nothing but its declaration."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.service.dashboard.asking import Page, Refused
from callwright.service.dashboard.listings import ListPage, list_context, page_of
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor

_NOTHING = Page([], False, None, None)


def listed(pages: Pages, wanted: ListPage) -> Route:
    """The route of a list. What a filter gets wrong stands above the list, and the filter keeps what was typed."""

    async def view(request: Request, visitor: Visitor) -> Response:
        refused: Refused | None = None
        try:
            found = await page_of(visitor, wanted, request.query_params)
        except Refused as error:
            found, refused = _NOTHING, error
        choices = None if wanted.choices is None else await wanted.choices(visitor)
        context = list_context(wanted, found, request.query_params, refused, choices)
        status = 200 if refused is None else refused.status
        return shown(visitor, wanted.path, "list.html", wanted.title, context, status=status)

    return pages.route(wanted.path, view, here=wanted.path)
