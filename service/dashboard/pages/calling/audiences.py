"""Audiences: lists of people, uploaded as a file, with what was refused and why."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from callwright.contract import audiences as contract
from callwright.contract.phone_numbers import list_phone_numbers
from callwright.list_files.written_cells import MARK, csv_lines, safe_cell
from callwright.service.dashboard.asking import Page, Refused
from callwright.service.dashboard.html.places import countries
from callwright.service.dashboard.html.rendering import HEADERS
from callwright.service.dashboard.listings import Column, ListPage, column, list_context
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

HERE = "/audiences"
MOST_IN_FILE = 20_000
"""Rows of a file of what was not taken; whoever has more mistakes mends these first."""
_PER_PAGE = 100
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
    "Nobody is on this list yet. Upload a file.",
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
)
_MORE = (*("phone_column", "timezone_column", "priority_column", "not_before_column", "language_column", "dedupe"),)
_PROGRESS = ("status", "status_reason", "processed", "total_rows", "percent", "added", "invalid", "duplicates")
REJECTS = ListPage(
    "",
    "Rows that were not taken",
    contract.list_import_errors,
    (
        Column("Line", "line", "count"),
        column("code", "words"),
        Column("In words", "message"),
        Column("Column", "column", is_second=True),
        Column("Value", "value_redacted", is_second=True),
    ),
    "Every row of the last import was taken.",
    counts="row",
    explains="Refused rows and doubles of the last import. Line: where the row begins in your file; the headings are "
    "line 1. Of a row that was not taken only this is kept, and of a number not its middle.",
)


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def upload(request: Request, visitor: Visitor) -> Response:
        audience = await visitor.ask.one(contract.get_audience, id=request.path_params["id"])
        if request.method == "POST":
            await pages.visitors.form(request, visitor)
            try:
                begun = await visitor.ask.one(contract.import_audience, id=audience["id"])
            except Refused as error:
                return JSONResponse({"message": error.message}, error.status)
            path = begun["upload_url"].removeprefix(pages.visitors.services.own_address.root)
            return JSONResponse({"import_id": begun["id"], "upload": path})
        return shown(visitor, HERE, "upload.html", f"Upload into {audience['name']}", {"audience": audience})

    async def progress(request: Request, visitor: Visitor) -> Response:
        found = await visitor.ask.one(
            contract.get_audience_import, id=request.path_params["id"], import_id=request.path_params["import_id"]
        )
        return JSONResponse({name: found[name] for name in _PROGRESS})

    async def rejects(request: Request, visitor: Visitor) -> Response:
        audience = await visitor.ask.one(contract.get_audience, id=request.path_params["id"])
        import_id = request.query_params.get("import_id") or audience["last_import_id"]
        found = await _not_taken(visitor, audience["id"], import_id, request.query_params.get("cursor") or None)
        page = f"{HERE}/{audience['id']}"
        links = ((f"{page}/rejects.csv", "All as CSV"), (page, "To the audience")) if found.data else ((page, "Back"),)
        context = list_context(replace(REJECTS, links=links), found, request.query_params)
        return shown(visitor, HERE, "list.html", f"Rows of {audience['name']} that were not taken", context)

    async def rejects_file(request: Request, visitor: Visitor) -> Response:
        audience = await visitor.ask.one(contract.get_audience, id=request.path_params["id"])
        lines = [[one.heading for one in REJECTS.columns]]
        cursor: str | None = None
        for _ in range(MOST_IN_FILE // _PER_PAGE):
            found = await _not_taken(visitor, audience["id"], audience["last_import_id"], cursor)
            lines += [[_cell(entry[one.at]) for one in REJECTS.columns] for entry in found.data]
            cursor = found.next_cursor
            if cursor is None:
                break
        headers = {**HEADERS, "Content-Disposition": 'attachment; filename="not-taken.csv"'}
        return Response(MARK + csv_lines(lines), headers=headers, media_type="text/csv")

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
        *resource_route(pages, AUDIENCE),
        pages.route("/audiences/{id}/upload", upload, methods=("GET", "POST"), here=HERE, for_members=True),
        pages.route("/audiences/{id}/rejects", rejects, here=HERE),
        pages.route("/audiences/{id}/rejects.csv", rejects_file, here=HERE),
        pages.route("/audiences/{id}/imports/{import_id}", progress, here=HERE),
    ]


def _cell(value: Any) -> str:
    return "" if value is None else safe_cell(str(value))


async def _not_taken(visitor: Visitor, audience_id: str, import_id: str | None, cursor: str | None) -> Page:
    if import_id is None:
        return Page([], False, None, None)
    given = {"id": audience_id, "import_id": import_id, "per_page": _PER_PAGE, "cursor": cursor}
    return await visitor.ask.many(contract.list_import_errors, **given)


async def _choices(visitor: Visitor) -> Mapping[str, Sequence[tuple[str, str]]]:
    return {"default_country": countries()}


async def _likely_country(visitor: Visitor, given: dict[str, Any]) -> None:
    """The country of the newest audience, or of the organization's own numbers."""
    for operation, name in ((contract.list_audiences, "default_country"), (list_phone_numbers, "country")):
        if newest := (await visitor.ask.many(operation, per_page=1)).data:
            given["default_country"] = newest[0][name]
        if given.get("default_country"):
            return
