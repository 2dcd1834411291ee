"""Audiences: lists of people, with the imports of files into them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from starlette.routing import Route

from callwright.contract import audiences as contract
from callwright.contract.phone_numbers import list_phone_numbers
from callwright.service.dashboard.html.places import countries
from callwright.service.dashboard.listings import ListPage, column
from callwright.service.dashboard.pages.calling.imports import imports_shown
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
from callwright.service.dashboard.serving import Pages
from callwright.service.dashboard.visitors import Visitor

HERE = "/audiences"
AUDIENCES = ListPage(
    HERE,
    "Audiences",
    contract.list_audiences,
    (
        column("name", link="/audiences/{id}"),
        column("status", "state"),
        column("valid_count", "count"),
        column("invalid_count", "count"),
        column("duplicate_count", "count", is_second=True),
        column("last_imported_at", "moment", is_second=True),
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
        column("name"),
        column("phone_number", "number"),
        column("country"),
        column("timezone", is_second=True),
        column("external_id", is_second=True),
        column("declined", "list", is_second=True),
    ),
    "Nobody is on this list yet.",
    explains="Own id: what your own system calls the person, from the column that you named for it. Says no to: the "
    "columns in which another row of the same person refuses; a refusal counts.",
)
AUDIENCE = ResourcePage(
    HERE,
    "/audiences/{id}",
    contract.get_audience,
    "name",
    (
        fact("valid_count", "count"),
        fact("invalid_count", "count"),
        fact("duplicate_count", "count"),
        fact("phone_column"),
        fact("default_country", "country"),
        fact("timezone_column"),
        fact("external_id_column"),
        fact("priority_column"),
        fact("not_before_column"),
        fact("language_column"),
        fact("last_imported_at", "moment"),
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
    forms=(("/audiences/{id}/upload", "Upload a file"),),
    links=(("/audiences/{id}/rejects", "Rows that were not taken"),),
    state="status",
    template="audience.html",
)
_MORE = ("phone_column", "timezone_column", "priority_column", "not_before_column", "language_column", "dedupe")


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def more(visitor: Visitor, audience: Mapping[str, Any]) -> Mapping[str, Any]:
        return await imports_shown(pages.visitors.services, visitor, audience["id"])

    new = FormPage(
        HERE,
        "/audiences/new",
        "New audience",
        contract.create_audience,
        ("name", "default_country", "external_id_column", *_MORE),
        "Make it, then upload",
        leads_to="/audiences/{id}/upload",
        choices=_choices,
        presets=_likely_country,
        more=_MORE,
    )
    return [
        listed(pages, AUDIENCES),
        form_route(pages, new),
        *resource_route(pages, replace(AUDIENCE, more=more)),
    ]


async def _choices(visitor: Visitor) -> Mapping[str, Sequence[tuple[str, str]]]:
    return {"default_country": countries()}


async def _likely_country(visitor: Visitor, given: dict[str, Any]) -> None:
    """The country of the newest audience, or of the organization's own numbers."""
    for operation, name in ((contract.list_audiences, "default_country"), (list_phone_numbers, "country")):
        if newest := (await visitor.ask.many(operation, per_page=1)).data:
            given["default_country"] = newest[0][name]
        if given.get("default_country"):
            return
