"""Audiences: lists of people, with the imports of files into them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.routing import Route

from callwright.contract import audiences as contract
from callwright.service.dashboard.listings import Column, ListPage
from callwright.service.dashboard.pages.calling.imports import imports_shown
from callwright.service.dashboard.pages.lists import listed
from callwright.service.dashboard.resources import Action, Fact, FormPage, ResourcePage, form_route, resource_route
from callwright.service.dashboard.serving import Pages
from callwright.service.dashboard.visitors import Visitor

HERE = "/audiences"
AUDIENCES = ListPage(
    HERE,
    "Audiences",
    contract.list_audiences,
    (
        Column("Name", "name", link="/audiences/{id}"),
        Column("Status", "status", "state"),
        Column("People", "valid_count", "count"),
        Column("Refused", "invalid_count", "count"),
        Column("Doubles", "duplicate_count", "count", is_second=True),
        Column("Last import", "last_imported_at", "moment", is_second=True),
    ),
    "An audience is a list of people: CSV or XLSX, with a column of telephone numbers. Uploading one calls nobody.",
    filters=("name", "status"),
    add=("/audiences/new", "New audience"),
)
ROWS = ListPage(
    "",
    "People",
    contract.list_audience_rows,
    (
        Column("Name", "name"),
        Column("Number", "phone_number", "number"),
        Column("Country", "country"),
        Column("Time zone", "timezone", is_second=True),
        Column("Own id", "external_id", is_second=True),
        Column("Says no", "declined", "list", is_second=True),
    ),
    "Nobody is on this list yet.",
)
AUDIENCE = ResourcePage(
    HERE,
    "/audiences/{id}",
    contract.get_audience,
    "name",
    (
        Fact("People who can be called", "valid_count", "count"),
        Fact("Refused rows", "invalid_count", "count"),
        Fact("Doubles", "duplicate_count", "count"),
        Fact("Column of numbers", "phone_column"),
        Fact("Country of numbers without +", "default_country"),
        Fact("Column of time zones", "timezone_column"),
        Fact("Column of own ids", "external_id_column"),
        Fact("Column of priorities", "priority_column"),
        Fact("Not called before", "not_before_column"),
        Fact("Column of languages", "language_column"),
        Fact("Last import", "last_imported_at", "moment"),
        Fact("Id", "id", "code"),
    ),
    related=(ROWS,),
    actions=(
        Action(
            "delete",
            contract.delete_audience,
            "Delete",
            "The list and its people are gone for good. Calls that were made keep what they say. A campaign that still "
            "needs it refuses.",
            is_grave=True,
            leads_to=HERE,
        ),
    ),
    links=(("/audiences/{id}/upload", "Upload a file"), ("/audiences/{id}/rejects", "Refused rows")),
    state="status",
    template="audience.html",
)


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def more(visitor: Visitor, audience: Mapping[str, Any]) -> Mapping[str, Any]:
        return await imports_shown(pages.visitors.services, visitor, audience["id"])

    new = FormPage(
        HERE,
        "/audiences/new",
        "New audience",
        contract.create_audience,
        (
            *("name", "default_country", "phone_column", "timezone_column", "external_id_column"),
            *("priority_column", "not_before_column", "language_column", "dedupe"),
        ),
        "Make it, then upload",
        intro="The columns are found by themselves in most lists; name one only where yours has an unusual heading.",
        leads_to="/audiences/{id}/upload",
    )
    return [
        listed(pages, AUDIENCES),
        form_route(pages, new),
        *resource_route(pages, replace(AUDIENCE, more=more)),
    ]
