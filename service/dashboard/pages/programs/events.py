"""Events: what happened, to whom it was sent, and why it did or did not arrive."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.contract import event_log as contract
from callwright.service.dashboard.listings import Column, ListPage, column
from callwright.service.dashboard.pages.lists import listed
from callwright.service.dashboard.pages.programs.webhooks import DELIVERY_COLUMNS, with_cause
from callwright.service.dashboard.resources import Action, Fact, ResourcePage, resource_route
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor

HERE = "/events"
EVENTS = ListPage(
    HERE,
    "Events",
    contract.list_events,
    (
        Column("When", "created_at", "moment", link="/events/{id}"),
        column("type"),
        Column("About", "subject_id", "code"),
        Column("Id", "id", "code", is_second=True),
    ),
    "Events appear here as calls are made, whether anybody is subscribed or not.",
    filters=("type", "subject_id"),
)
EVENT = ResourcePage(
    HERE,
    "/events/{id}",
    contract.get_event,
    "type",
    (
        Fact("When", "created_at", "moment"),
        Fact("About", "subject_id", "code"),
        Fact("Id", "id", "code"),
        Fact("Data", "data", "json"),
    ),
    related=(
        ListPage(
            "",
            "Deliveries",
            contract.list_event_deliveries,
            DELIVERY_COLUMNS,
            "It was sent to nobody: no webhook wanted it when it happened.",
            read_as=with_cause,
        ),
    ),
    actions=(
        Action(
            "replay",
            contract.replay_event,
            "Send again",
            "It is sent once more to every active webhook that wants it, with the same id.",
        ),
    ),
    links=(("/events/{id}/why", "What became of it, in words"),),
)


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def why(request: Request, visitor: Visitor) -> Response:
        found = await visitor.ask.one(contract.explain_event, id=request.path_params["id"])
        return shown(visitor, HERE, "event_explained.html", found["event_type"], {"explained": found})

    return [listed(pages, EVENTS), *resource_route(pages, EVENT), pages.route("/events/{id}/why", why, here=HERE)]
