"""Webhooks: where events go, each attempt with the answer, and sending again what was missed."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.contract import webhooks as contract
from callwright.contract.events import EVENT_TYPES
from callwright.service.dashboard.html.field_names import label_of, word_of
from callwright.service.dashboard.listings import Column, ListPage, column
from callwright.service.dashboard.pages.lists import listed
from callwright.service.dashboard.resources import (
    Action,
    Fact,
    FormPage,
    ResourcePage,
    fact,
    form_route,
    resource_route,
)
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor

HERE = "/webhooks"
_WHAT_SECRETS_ARE_FOR = (
    "Whoever runs the program at the address needs it: with it the program checks the signature of each event, so that "
    "nobody else can send it one."
)
WEBHOOKS = ListPage(
    HERE,
    "Webhooks",
    contract.list_webhooks,
    (
        column("url", link="/webhooks/{id}"),
        column("status", "state"),
        column("events", "list"),
        column("consecutive_failures", "count", is_second=True),
        column("last_success_at", "moment", is_second=True),
    ),
    "A webhook sends events, signed, to an address of a program of yours. Nothing is sent anywhere until there is one.",
    filters=("status",),
    add=("/webhooks/new", "New webhook"),
)
DELIVERY_COLUMNS = (
    Column("When", "created_at", "moment", link="/webhooks/{webhook_id}/deliveries/{id}"),
    column("event_type"),
    column("status", "state"),
    column("last_response_status"),
    column("last_outcome", "words", is_second=True),
    column("attempt_count", "count"),
    column("next_attempt_at", "moment", is_second=True),
    Column(label_of("cause"), "because", is_second=True),
)


def with_cause(delivery: Mapping[str, Any]) -> Mapping[str, Any]:
    """A delivery with its cause as people call it."""
    return {**delivery, "because": word_of("cause", delivery["cause"])}


WEBHOOK = ResourcePage(
    HERE,
    "/webhooks/{id}",
    contract.get_webhook,
    "url",
    (
        fact("events", "list"),
        fact("description"),
        Fact("Secret begins with", "secret_prefix", "code"),
        fact("consecutive_failures", "count"),
        fact("last_success_at", "moment"),
        fact("last_failure_at", "moment"),
        fact("disabled_reason", "words"),
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
            read_as=with_cause,
        ),
    ),
    actions=(
        Action(
            "test",
            contract.test_webhook,
            "Send a test",
            "An event of the type webhook.test is sent there now. The list of deliveries says what was answered.",
        ),
        Action(
            "delete",
            contract.delete_webhook,
            "Delete",
            "Nothing is sent there any more, also of what waits now. Its log of attempts is gone.",
            is_grave=True,
            leads_to=HERE,
        ),
    ),
    forms=(
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
        "New webhook",
        contract.create_webhook,
        ("url", "events", "description"),
        "Make the webhook",
        choices=_choices,
        once_shown=(("secret", _WHAT_SECRETS_ARE_FOR),),
        after="To the webhook",
    )
    edit = FormPage(
        HERE,
        "/webhooks/{id}/edit",
        "Change the webhook",
        contract.update_webhook,
        ("url", "events", "description", "status"),
        "Save",
        leads_to="/webhooks/{id}",
        reads=contract.get_webhook,
        choices=_choices,
    )
    secret = FormPage(
        HERE,
        "/webhooks/{id}/secret",
        "A new secret",
        contract.rotate_webhook_secret,
        ("overlap_seconds",),
        "Make it",
        intro="Events are signed with both secrets for so long, so that the receiver can change without losing one.",
        once_shown=(("secret", _WHAT_SECRETS_ARE_FOR),),
        after="To the webhook",
    )
    return [
        listed(pages, WEBHOOKS),
        form_route(pages, new),
        *resource_route(pages, WEBHOOK),
        form_route(pages, edit),
        form_route(pages, secret),
        pages.route("/webhooks/{id}/deliveries/{delivery_id}", delivery, here=HERE),
    ]


async def _choices(_: Visitor) -> Mapping[str, Sequence[tuple[str, str]]]:
    named = [(name, f"{name}: {_for_people(event.fires)}") for name, event in EVENT_TYPES.items()]
    return {"events": [("*", "*: all of them, later ones too"), *sorted(named)]}


def _for_people(fires: str) -> str:
    """What the contract says of an event, in the words of the dashboard."""
    return fires.replace("deployment", "campaign").replace("`", "")
