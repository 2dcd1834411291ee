"""The route of a list that needs nothing but its declaration."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.service.dashboard.asking import Page, Refused
from callwright.service.dashboard.listings import ListPage, fields_of, page_of, rows_of
from callwright.service.dashboard.serving import Pages, keeping, shown
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
        filters = fields_of(wanted, request.query_params)

        context = {
            "columns": wanted.columns,
            "rows": rows_of(wanted.columns, found.data),
            "page": found,
            "teaches": wanted.teaches,
            "add": wanted.add,
            "also": wanted.also,
            "filters": filters,
            "is_filtered": any(one.value for one in filters),
            "counts_to": wanted.operation.counts_to,
            "refused": None if refused is None else refused.message,
            "query": keeping(request.query_params),
        }
        status = 200 if refused is None else refused.status
        return shown(visitor, wanted.path, "list.html", wanted.title, context, status=status)

    return pages.route(wanted.path, view, here=wanted.path)
