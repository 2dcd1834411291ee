"""Imports of files into an audience: uploading one, how far each is, ending one that waits for its file, and the rows
that one refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anyio import to_thread
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from callwright.contract import audiences as contract
from callwright.contract.problems import IDEMPOTENCY_IN_PROGRESS, SERVICE_UNAVAILABLE
from callwright.service.accounts.principals import UserActor
from callwright.service.campaigns.ended_imports import cancel_import
from callwright.service.dashboard import forms_sent_once
from callwright.service.dashboard.asking import Page, Refused
from callwright.service.dashboard.html.import_words import import_words, megabytes
from callwright.service.dashboard.listings import Column, ListPage, list_context
from callwright.service.dashboard.serving import Pages, keeping, said, shown
from callwright.service.dashboard.visitors import Visitor, one
from callwright.service.handlers.audience_imports import (
    ShownImport,
    import_of,
    imports_of,
    open_imports_of,
    refused_rows,
)
from callwright.service.platform.refusals import not_found
from callwright.service.platform.uploads import Uploads
from callwright.service.rest.tables.streams import table_stream
from callwright.service.services import Services
from callwright.service.tables.import_uploads import by_id

HERE = "/audiences"
PER_PAGE = 20
"""Imports of one page."""
MOST_OPEN = 10
"""Open imports that a page shows, the oldest."""
_CONFLICT = 409
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
    "",
)


@dataclass(frozen=True)
class ImportLine:
    """An import as a page shows it. `words` say how far it is or how it ended; `expires_at` is in ISO 8601."""

    id: str
    status: str
    words: str
    began_at: str
    expires_at: str | None
    percent: int
    refused: int
    waits_for_file: bool

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.status in ("completed", "completed_with_errors", "failed")


async def imports_shown(services: Services, visitor: Visitor, audience_id: str) -> Mapping[str, Any]:
    """What the page of an audience shows of its imports: those that have not ended, and the newest of all."""
    given = visitor.org_id, audience_id, services.clock.now_ms()
    newest = await services.database.read(imports_of, *given, most=PER_PAGE + 1)
    return {
        "open_imports": await _open(services, visitor, audience_id),
        "imports": await _lines(services, newest[:PER_PAGE]),
        "older_than": newest[PER_PAGE - 1].found.id if len(newest) > PER_PAGE else None,
    }


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    services = pages.visitors.services

    async def upload(request: Request, visitor: Visitor) -> Response:
        audience = await visitor.ask.one(contract.get_audience, id=request.path_params["id"])
        if request.method == "POST":
            fields = await pages.visitors.form(request, visitor)
            try:
                key = forms_sent_once.key_of(fields) if one(fields, forms_sent_once.FIELD) else None
                begun = await visitor.ask.one(contract.import_audience, key=key, id=audience["id"])
            except Refused as error:
                is_under_way = error.code == IDEMPOTENCY_IN_PROGRESS.code  # the answer to the first try was lost
                status = SERVICE_UNAVAILABLE.status if is_under_way else error.status
                return JSONResponse({"message": error.message}, status)
            path = begun["upload_url"].removeprefix(services.own_address.root)
            return JSONResponse({"import_id": begun["id"], "upload": path})
        context = {
            "audience": audience,
            "most_bytes": services.settings.upload_max_bytes,
            "most": megabytes(services.settings.upload_max_bytes),
            "open_imports": await _open(services, visitor, audience["id"]),
        }
        return shown(visitor, HERE, "upload.html", f"Upload into {audience['name']}", context)

    async def progress(request: Request, visitor: Visitor) -> Response:
        found, line = await _asked(services, request, visitor)
        told = {name: getattr(line, name) for name in ("status", "words", "percent", "refused", "is_over")}
        counts = found.found.model_dump(mode="json", include={"added", "invalid", "duplicates"})
        return JSONResponse({**told, **counts})

    async def older(request: Request, visitor: Visitor) -> Response:
        audience = await visitor.ask.one(contract.get_audience, id=request.path_params["id"])
        given = visitor.org_id, audience["id"], services.clock.now_ms()
        before = request.query_params.get("before") or None
        found = await services.database.read(imports_of, *given, most=PER_PAGE + 1, before=before)
        context = {
            "audience": audience,
            "imports": await _lines(services, found[:PER_PAGE]),
            "older_than": found[PER_PAGE - 1].found.id if len(found) > PER_PAGE else None,
        }
        return shown(visitor, HERE, "imports.html", f"Imports into {audience['name']}", context)

    async def end(request: Request, visitor: Visitor) -> Response:
        audience = await visitor.ask.one(contract.get_audience, id=request.path_params["id"])
        _, line = await _asked(services, request, visitor)
        back = f"{HERE}/{audience['id']}"
        if request.method == "POST":
            await pages.visitors.form(request, visitor)
            which = by_id(visitor.org_id, audience["id"], line.id)
            if await cancel_import(services, which, UserActor(visitor.user_id)):
                return RedirectResponse(back, 303)
            _, line = await _asked(services, request, visitor)
        if line.is_over:
            words = f"This import has ended already. {line.words}"
            return said(visitor, "Not ended", words, status=_CONFLICT, back=(back, "To the audience"))
        context = {"audience": audience, "line": line, "back": back}
        return shown(visitor, HERE, "import_end.html", "End this import?", context)

    async def rejects(request: Request, visitor: Visitor) -> Response:
        audience = await visitor.ask.one(contract.get_audience, id=request.path_params["id"])
        import_id = request.query_params.get("import_id") or audience["last_import_id"]
        back = ("/audiences/" + audience["id"], "To the audience")
        line, found = None, Page([], False, None, None)
        wanted = replace(REJECTS, add=back, teaches="No file was imported into this audience yet.")
        if import_id:
            _, line = await _line(services, visitor, audience["id"], import_id)
            cursor = request.query_params.get("cursor") or None
            asked = {"id": audience["id"], "import_id": import_id, "per_page": 100, "cursor": cursor}
            found = await visitor.ask.many(contract.list_import_errors, **asked)
            file = f"/audiences/{audience['id']}/imports/{import_id}/refused.csv"
            links = ((file, "Download as CSV"),) if found.data else ()
            wanted = replace(wanted, teaches=_none_refused(line), links=links)
        query = QueryParams({"import_id": import_id or ""})
        context = {**list_context(wanted, found, query), "query": keeping(query), "line": line}
        return shown(visitor, HERE, "rejects.html", f"Refused rows of {audience['name']}", context)

    async def refused(request: Request, visitor: Visitor) -> Response:
        _, line = await _asked(services, request, visitor)
        wanted = refused_rows(line.id, is_masked=not visitor.may_change)
        answer = await table_stream(services.database, wanted, is_head=request.method == "HEAD")
        answer.headers["Cache-Control"] = "no-store"
        return answer

    at = "/audiences/{id}/imports"
    return [
        pages.route("/audiences/{id}/upload", upload, methods=("GET", "POST"), here=HERE, for_members=True),
        pages.route("/audiences/{id}/rejects", rejects, here=HERE),
        pages.route(at, older, here=HERE),
        pages.route(f"{at}/{{import_id}}", progress, here=HERE),
        pages.route(f"{at}/{{import_id}}/end", end, methods=("GET", "POST"), here=HERE, for_members=True),
        pages.route(f"{at}/{{import_id}}/refused.csv", refused, here=HERE),
    ]


def _none_refused(line: ImportLine) -> str:
    if not line.is_over:
        return "No row was refused so far. The import has not ended."
    if line.status == "failed":
        return "No single row was refused: see above why the import failed."
    return "Every row of this import was taken."


async def _open(services: Services, visitor: Visitor, audience_id: str) -> list[ImportLine]:
    given = visitor.org_id, audience_id, services.clock.now_ms()
    return await _lines(services, await services.database.read(open_imports_of, *given, most=MOST_OPEN))


async def _asked(services: Services, request: Request, visitor: Visitor) -> tuple[ShownImport, ImportLine]:
    """The import that an address names. Raises `Refusal`: not_found."""
    return await _line(services, visitor, request.path_params["id"], request.path_params["import_id"])


async def _line(
    services: Services, visitor: Visitor, audience_id: str, import_id: str
) -> tuple[ShownImport, ImportLine]:
    given = visitor.org_id, audience_id, import_id, services.clock.now_ms()
    found = await services.database.read(import_of, *given)
    if found is None:
        raise not_found()
    (line,) = await _lines(services, [found])
    return found, line


async def _lines(services: Services, found: Sequence[ShownImport]) -> list[ImportLine]:
    uploads = Uploads(services.settings)

    def made() -> list[ImportLine]:
        return [_made(each, uploads.size_of(each.found.id) if each.waits_for_file else None) for each in found]

    return await to_thread.run_sync(made)


def _made(each: ShownImport, arrived: int | None) -> ImportLine:
    found = each.found.model_dump(mode="json")
    return ImportLine(
        each.found.id,
        each.found.status,
        import_words(each, arrived),
        found["created_at"],
        found["expires_at"],
        each.found.percent,
        each.found.invalid + each.found.duplicates,
        each.waits_for_file,
    )
