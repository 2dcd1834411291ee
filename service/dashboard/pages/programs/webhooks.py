"""Subscriptions: where events go, each attempt with the answer, and sending again what was missed."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.contract import webhooks as contract
from callwright.service.dashboard.listings import Column, ListPage
from callwright.service.dashboard.pages.lists import listed
from callwright.service.dashboard.resources import Action, Fact, FormPage, ResourcePage, form_route, resource_route
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor

HERE = "/webhooks"
WEBHOOKS = ListPage(
    HERE,
    "Webhooks",
    contract.list_webhooks,
    (
        Column("Address", "url", link="/webhooks/{id}"),
        Column("Status", "status", "state"),
        Column("Events", "events", "list"),
        Column("Failures in a row", "consecutive_failures", "count", is_second=True),
        Column("Last success", "last_success_at", "moment", is_second=True),
    ),
    "A subscription has events sent to an address of yours, signed. Nothing is sent anywhere until there is one.",
    filters=("status",),
    add=("/webhooks/new", "New subscription"),
)
DELIVERY_COLUMNS = (
    Column("When", "created_at", "moment", link="/webhooks/{webhook_id}/deliveries/{id}"),
    Column("Event", "event_type"),
    Column("Status", "status", "state"),
    Column("Answer", "last_response_status"),
    Column("Outcome", "last_outcome", "words", is_second=True),
    Column("Attempts", "attempt_count", "count"),
    Column("Next attempt", "next_attempt_at", "moment", is_second=True),
    Column("Because of", "cause", "words", is_second=True),
)
WEBHOOK = ResourcePage(
    HERE,
    "/webhooks/{id}",
    contract.get_webhook,
    "url",
    (
        Fact("Events", "events", "list"),
        Fact("What it is for", "description"),
        Fact("Secret begins with", "secret_prefix", "code"),
        Fact("Failures in a row", "consecutive_failures", "count"),
        Fact("Last success", "last_success_at", "moment"),
        Fact("Last failure", "last_failure_at", "moment"),
        Fact("Disabled because of", "disabled_reason", "words"),
        Fact("Id", "id", "code"),
    ),
    related=(
        ListPage(
            "",
            "Deliveries",
            contract.list_webhook_deliveries,
            DELIVERY_COLUMNS,
            "Nothing was sent there yet.",
            filters=("status", "cause", "event_type", "created_from", "created_before"),
        ),
    ),
    actions=(
        Action("test", contract.test_webhook, "Send a test", "An event of the type `webhook.test` is sent there now."),
        Action(
            "delete",
            contract.delete_webhook,
            "Delete",
            "Nothing is sent there any more, also of what waits now. Its log of attempts is gone.",
            is_grave=True,
            leads_to=HERE,
        ),
    ),
    links=(
        ("/webhooks/{id}/replay", "Send again…"),
        ("/webhooks/{id}/edit", "Change"),
        ("/webhooks/{id}/secret", "New secret"),
    ),
    state="status",
)


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def delivery(request: Request, visitor: Visitor) -> Response:
        found = await visitor.ask.one(
            contract.get_webhook_delivery, id=request.path_params["id"], delivery_id=request.path_params["delivery_id"]
        )
        return shown(visitor, HERE, "delivery.html", found["event_type"], {"delivery": found})

    new = FormPage(
        HERE,
        "/webhooks/new",
        "New subscription",
        contract.create_webhook,
        ("url", "events", "description"),
        "Subscribe",
        intro="One event in a line, or a pattern such as call.*",
        once_shown=("secret",),
    )
    edit = FormPage(
        HERE,
        "/webhooks/{id}/edit",
        "Change the subscription",
        contract.update_webhook,
        ("url", "events", "description", "status"),
        "Save",
        leads_to="/webhooks/{id}",
        reads=contract.get_webhook,
    )
    secret = FormPage(
        HERE,
        "/webhooks/{id}/secret",
        "A new secret",
        contract.rotate_webhook_secret,
        ("overlap_seconds",),
        "Make it",
        intro="Events are signed with both secrets for so long, so that the receiver can change without losing one.",
        once_shown=("secret",),
    )
    return [
        listed(pages, WEBHOOKS),
        form_route(pages, new),
        *resource_route(pages, WEBHOOK),
        form_route(pages, edit),
        form_route(pages, secret),
        pages.route("/webhooks/{id}/deliveries/{delivery_id}", delivery, here=HERE),
    ]
