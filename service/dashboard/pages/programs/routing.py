"""The log of inbound routing: each question to the webhook of a number, and what the caller got."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.contract.inbound_routing import list_routing_requests
from callwright.contract.phone_numbers import list_phone_numbers
from callwright.service.dashboard.asking import Page, Refused
from callwright.service.dashboard.listings import Column, ListPage, list_context, page_of
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor

PATH = "/numbers/routing"
_MOST_NUMBERS = 100
LOG = ListPage(
    PATH,
    "Routing log",
    list_routing_requests,
    (
        Column("When", "created_at", "moment"),
        Column("Caller", "from", "number"),
        Column("Test", "is_test", "flag", is_second=True),
        Column("Answer", "outcome", "state"),
        Column("Asked for", "action", "words"),
        Column("Status", "response_status", is_second=True),
        Column("Took (ms)", "latency_ms", "count"),
        Column("The caller got", "decision"),
        Column("Why not usable", "detail", is_second=True),
        Column("Call", "call_id", "code", link="/calls/{call_id}", is_second=True),
    ),
    "Nobody has called this number since it has a routing webhook. Each question is kept for 30 days.",
    filters=("failed", "slow", "created_from", "created_before"),
)


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def log(request: Request, visitor: Visitor) -> Response:
        query = request.query_params
        numbers = (await visitor.ask.many(list_phone_numbers, per_page=_MOST_NUMBERS)).data
        numbers.sort(key=lambda number: number["inbound_routing"] is None)
        chosen = query.get("number") or (numbers[0]["id"] if numbers else None)
        found, refused = Page([], False, None, None), None
        if chosen is not None:
            try:
                found = await page_of(visitor, LOG, query, id=chosen)
            except Refused as error:
                if error.status == 404:
                    raise
                refused = error
        number = next((one for one in numbers if one["id"] == chosen), None)
        context = {
            **list_context(LOG, found, query, refused),
            "numbers": numbers,
            "chosen": chosen,
            "routing": None if number is None else number["inbound_routing"],
            "here_unfiltered": f"{PATH}?number={chosen}",
        }
        status = 200 if refused is None else refused.status
        return shown(visitor, "/numbers", "routing.html", LOG.title, context, status=status)

    return [pages.route(PATH, log, here="/numbers")]
