"""Audiences: lists of people, uploaded as a file, with what was refused and why."""

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from callwright.contract import audiences as contract
from callwright.service.dashboard.asking import Page, Refused
from callwright.service.dashboard.listings import Column, ListPage, list_context
from callwright.service.dashboard.pages.lists import listed
from callwright.service.dashboard.resources import Action, Fact, FormPage, ResourcePage, form_route, resource_route
from callwright.service.dashboard.serving import Pages, shown
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
    "Nobody is on this list yet. Upload a file.",
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
)
_PROGRESS = ("status", "status_reason", "processed", "total_rows", "percent", "added", "invalid", "duplicates")
REJECTS = ListPage(
    "",
    "Refused rows",
    contract.list_import_errors,
    (
        Column("Line", "line", "count"),
        Column("Why", "code", "words"),
        Column("In words", "message"),
        Column("Column", "column", is_second=True),
        Column("Value", "value_redacted", is_second=True),
    ),
    "Every row of the last import was taken.",
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
        found = Page([], False, None, None)
        if import_id:
            cursor = request.query_params.get("cursor") or None
            found = await visitor.ask.many(
                contract.list_import_errors, id=audience["id"], import_id=import_id, per_page=100, cursor=cursor
            )
        wanted = replace(REJECTS, add=("/audiences/" + audience["id"], "To the audience"))
        context = list_context(wanted, found, request.query_params)
        return shown(visitor, HERE, "list.html", f"Refused rows of {audience['name']}", context)

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
        *resource_route(pages, AUDIENCE),
        pages.route("/audiences/{id}/upload", upload, methods=("GET", "POST"), here=HERE),
        pages.route("/audiences/{id}/rejects", rejects, here=HERE),
        pages.route("/audiences/{id}/imports/{import_id}", progress, here=HERE),
    ]
