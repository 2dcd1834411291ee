"""One person: a contact of a campaign with its calls, and everything that is known under a number.

A page of a person is found by a call, a contact or an entry of the do-not-call list, never by the number, so that no
number is in an address. Its data is what the operation `export_person` gives, which the audit log records.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.contract.audiences import list_audiences
from callwright.contract.calls.calls import list_calls
from callwright.contract.calls.evidence import get_call_evidence
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.deployments.deployments import get_deployment, list_contacts, list_deployments
from callwright.contract.people import export_person
from callwright.service.dashboard.asking import Refused
from callwright.service.dashboard.listings import Column, column, rows_of
from callwright.service.dashboard.serving import Pages, keeping, shown
from callwright.service.dashboard.visitors import Visitor
from callwright.service.dashboard.whole_numbers import hidden_number, revealed
from callwright.service.handlers.people.whole_numbers import NumberPlace
from callwright.service.platform.refusals import not_found

MOST_CALLS = 200
"""Calls that the page of a contact shows, and entries on a page of a person."""
CALLS = (
    Column("When", "created_at", "moment", link="/calls/{id}"),
    Column("Outcome", "outcome", "state"),
    Column("Disposition", "disposition", "state"),
    Column("Length", "duration_seconds", "length"),
    Column("Attempt", "attempt_number", "count", is_second=True),
    Column("Cost", "cost", "money", is_second=True),
)
CONTACTS = (
    Column("Name", "name"),
    Column("Campaign", "campaign", link="/campaigns/{deployment_id}/contacts/{id}"),
    Column("Status", "status", "state"),
    Column("Calls", "attempts", "count"),
    Column("Last outcome", "last_outcome", "state", link="/calls/{last_call_id}"),
    Column("Next call", "next_attempt_at", "moment", is_second=True),
)
ROWS = (
    Column("Name", "name"),
    Column("Audience", "audience", link="/audiences/{audience_id}"),
    Column("Country", "country"),
    column("timezone", is_second=True),
    column("external_id", is_second=True),
    column("declined", "list"),
)


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    services = pages.visitors.services

    async def contact(request: Request, visitor: Visitor) -> Response:
        place = _place(request)
        whole = None
        if request.method == "POST":
            await pages.visitors.form(request, visitor)
            whole = await revealed(services, visitor, place)
        number = whole or await hidden_number(services, visitor, place)
        campaign = await visitor.ask.one(get_deployment, id=place.deployment_id)
        found = await visitor.ask.many(list_contacts, id=place.deployment_id, phone_number=number, per_page=MOST_CALLS)
        entry = next((one for one in found.data if one["id"] == place.id), None)
        if entry is None:
            raise not_found()
        calls = await visitor.ask.many(
            list_calls, contact_id=place.id, deployment_id=place.deployment_id, per_page=MOST_CALLS
        )
        context = {
            "contact": entry,
            "campaign": campaign,
            "whole_number": whole,
            "columns": CALLS,
            "rows": rows_of(CALLS, calls.data),
            "path": f"/campaigns/{place.deployment_id}/contacts/{place.id}",
        }
        return shown(visitor, "/campaigns", "contact.html", entry["name"] or "A contact", context)

    async def person(request: Request, visitor: Visitor) -> Response:
        place = _place(request)
        number = await hidden_number(services, visitor, place)
        cursor = request.query_params.get("cursor") or None
        found = await visitor.ask.one(export_person, number=number, per_page=MOST_CALLS, cursor=cursor)
        calls: list[dict[str, Any]] = sorted(
            (one["call"] for one in found["calls"]), key=lambda call: call["created_at"], reverse=True
        )
        known = (*found["contacts"], *found["audience_rows"])
        names: list[str | None] = [*(one["name"] for one in known), *(call["contact_name"] for call in calls)]
        campaigns, audiences = await _names(visitor, list_deployments), await _names(visitor, list_audiences)
        rows = [
            {
                **row,
                "declined": sorted(row["declined"]),
                "audience": audiences.get(row["audience_id"], row["audience_id"]),
            }
            for row in found["audience_rows"]
        ]
        contacts = [
            {**one, "campaign": campaigns.get(one["deployment_id"], one["deployment_id"])} for one in found["contacts"]
        ]
        context = {
            "person": found,
            "number": number,
            "page": {"next_cursor": found["next_cursor"]},
            "query": keeping(request.query_params),
            "evidence": await _evidence(visitor, calls),
            "parts_of": [
                ("Contacts in campaigns", CONTACTS, rows_of(CONTACTS, contacts)),
                ("Calls", CALLS, rows_of(CALLS, calls)),
                ("Rows of audiences", ROWS, rows_of(ROWS, rows)),
            ],
            "path": request.url.path.removesuffix("/person"),
            "can_opt_out": number.startswith("+") and not request.url.path.startswith("/do-not-call"),
        }
        return shown(visitor, "/calls", "person.html", next(filter(None, names), None) or "A person", context)

    at = "/campaigns/{deployment_id}/contacts/{id}"
    places = ((at, "/campaigns"), ("/calls/{id}", "/calls"), ("/do-not-call/{id}", "/do-not-call"))
    return [
        pages.route(at, contact, here="/campaigns"),
        pages.route(f"{at}/number", contact, methods=("POST",), here="/campaigns"),
        *(pages.route(f"{path}/person", person, here=here) for path, here in places),
    ]


def _place(request: Request) -> NumberPlace:
    return NumberPlace(request.path_params["id"], request.path_params.get("deployment_id"))


async def _names(visitor: Visitor, operation: AnyOperation) -> dict[str, str]:
    """The names of the newest campaigns or audiences, by their ids. Older ones are shown by their ids."""
    return {one["id"]: one["name"] for one in (await visitor.ask.many(operation, per_page=MOST_CALLS)).data}


async def _evidence(visitor: Visitor, calls: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Why the newest call to the person was allowed, with the consent that was found; None where none was made."""
    newest = next((call["id"] for call in calls if call["call_type"] == "outbound"), None)
    if newest is None:
        return None
    try:
        return await visitor.ask.one(get_call_evidence, call_uuid=newest)
    except Refused as error:
        if error.status == 404:
            return None
        raise
