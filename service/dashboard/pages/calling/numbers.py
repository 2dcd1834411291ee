"""Telephone numbers: rented, looked after, given back."""

from collections.abc import Mapping
from typing import Any

from starlette.routing import Route

from callwright.contract import phone_numbers as contract
from callwright.contract.inbound_routing import list_routing_requests
from callwright.service.dashboard.listings import Column, ListPage
from callwright.service.dashboard.pages.lists import listed
from callwright.service.dashboard.resources import Action, Fact, FormPage, ResourcePage, form_route, resource_route
from callwright.service.dashboard.serving import Pages

HERE = "/numbers"
NUMBERS = ListPage(
    HERE,
    "Numbers",
    contract.list_phone_numbers,
    (
        Column("Number", "number", link="/numbers/{id}"),
        Column("Label", "label"),
        Column("Status", "status", "state"),
        Column("Health", "health", "state", is_second=True),
        Column("Country", "country", is_second=True),
        Column("Number type", "number_type", "words", is_second=True),
        Column("A month", "monthly_cost", "money"),
        Column("Renews", "renews_at", "moment", is_second=True),
    ),
    "Campaigns call from these numbers, and people call back to them. Numbers of the simulated network ring nobody.",
    filters=("status", "country", "number"),
    add=("/numbers/rent", "Rent a number"),
    links=(("/numbers/routing", "Routing log"),),
)
ROUTING = ListPage(
    "",
    "What the routing webhook was asked",
    list_routing_requests,
    (
        Column("When", "created_at", "moment"),
        Column("Outcome", "outcome", "state"),
        Column("Action", "action", "words"),
        Column("Status", "response_status"),
        Column("Took (ms)", "latency_ms", "count", is_second=True),
        Column("Call", "call_id", link="/calls/{call_id}", is_second=True),
    ),
    "Nobody has called this number, or it has no routing webhook.",
)


def _is_held(number: Mapping[str, Any]) -> bool:
    return number["status"] not in ("released", "releasing")


NUMBER = ResourcePage(
    HERE,
    "/numbers/{id}",
    contract.get_phone_number,
    "number",
    (
        Fact("Label", "label"),
        Fact("Country", "country"),
        Fact("Place", "locality"),
        Fact("Number type", "number_type", "words"),
        Fact("Provider", "provider"),
        Fact("A month", "monthly_cost", "money"),
        Fact("Renews", "renews_at", "moment"),
        Fact("Most calls a day", "max_calls_per_day", "count"),
        Fact("Who calls it reaches", "inbound_deployment_id", link="/campaigns/{inbound_deployment_id}"),
        Fact("Routing webhook", "inbound_routing.url", "code"),
        Fact("Id", "id", "code"),
    ),
    related=(ROUTING,),
    actions=(
        Action(
            "release",
            contract.release_phone_number,
            "Give it back",
            "The number goes back for good: somebody else may rent it, and who calls it does not reach you. Campaigns "
            "that call from it go on with their other numbers, or pause.",
            is_grave=True,
            possible=_is_held,
        ),
    ),
    forms=(("/numbers/{id}/edit", "Change"),),
    links=(("/numbers/routing?number={id}", "Routing log"),),
    state="status",
)


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    edit = FormPage(
        HERE,
        "/numbers/{id}/edit",
        "Change the number",
        contract.update_phone_number,
        ("label", "auto_renew", "max_calls_per_day"),
        "Save",
        leads_to="/numbers/{id}",
        reads=contract.get_phone_number,
    )
    return [listed(pages, NUMBERS), *resource_route(pages, NUMBER), form_route(pages, edit)]
