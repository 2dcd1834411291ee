"""Audiences, their rows and their imports. The import itself runs later, in `workers.imports`."""

import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import ceil
from typing import Any

from sqlalchemy import Row, Select, bindparam, insert, select, update

from callwright.contract import audiences as contract
from callwright.contract.declaration.pagination import MOST_COUNTED, Page
from callwright.contract.problems import AUDIENCE_IN_USE
from callwright.list_files.name_columns import name_of
from callwright.service.campaigns import removed_audiences, spending_cap
from callwright.service.campaigns.adding_people import Intake, take_rows
from callwright.service.campaigns.start_plan import open_imports
from callwright.service.handlers import revisions
from callwright.service.handlers.changes import check_name_free, check_not_in_use, given
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.clock.clock import SECOND, moment_or_none
from callwright.service.platform.database.listing import Finder, Listing, RowScan, filter_conditions, wanted_of
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.json_text import json_text
from callwright.service.platform.phone import is_country
from callwright.service.platform.refusals import invalid
from callwright.service.platform.uploads import TOKEN_PREFIX, hash_of
from callwright.service.rules import webhook_url
from callwright.service.rules.rows import BadRow
from callwright.service.tables.import_uploads import BEGINS_MS
from callwright.service.tables.rows_of_audience import AllRows, by_own_id
from callwright.service.tables.schema import audience_rows, audiences, deployments, import_errors, imports

_A, _R, _I, _E = audiences.c, audience_rows.c, imports.c, import_errors.c
_LAST_IMPORT = (
    select(_I.id)
    .where(_I.audience_id == _A.id)
    .order_by(_I.created_at.desc(), _I.id.desc())
    .limit(1)
    .scalar_subquery()
    .label("last_import_id")
)
_WITH_IMPORT = select(audiences, _LAST_IMPORT).where(_A.deleted_at.is_(None))
_FIND = _WITH_IMPORT.where(_A.id == bindparam("id"), _A.org_id == bindparam("org"))
_NAMED = Prepared(select(_A.id).where(_A.org_id == bindparam("org"), _A.name == bindparam("name")))
_LOCK = select(_A.status).where(_A.id == bindparam("id")).with_for_update()
_FILE = ("csv", "file", "source_url")
"""Columns that may hold a megabyte or a secret, which nobody reads who asks how far an import is."""
IMPORTS: Select[*tuple[Any, ...]] = select(*(column for column in _I if column.name not in _FILE))
"""Imports without their files."""
_FIND_IMPORT: Select[*tuple[Any, ...]] = IMPORTS.where(
    _I.id == bindparam("id"), _I.audience_id == bindparam("audience"), _I.org_id == bindparam("org")
)
MAX_SHOWN_ERRORS = 100
_READING = frozenset({"phone_column", "default_country"})
"""How an audience reads its rows."""


def find(context: RequestContext, audience_id: str, *, field: str | None = None) -> Row[Any]:
    """The audience's row. Raises `Refusal`: not_found."""
    return context.one(_FIND, field=field, id=audience_id)


def _find_import(context: RequestContext, audience_id: str, import_id: str) -> Row[Any]:
    find(context, audience_id)
    return context.one(_FIND_IMPORT, id=import_id, audience=audience_id)


def _to_resource(row: Row[Any]) -> contract.Audience:
    columns = [
        contract.Column(
            name=column["name"],
            type=column["type"] or "string",
            sample=column["sample"],
            fill_rate=round(column["filled"] / row.valid_count, 4) if row.valid_count else 0.0,
        )
        for column in json.loads(row.columns)
    ]
    return resource(contract.Audience, row, columns=columns)


def _show_error(bad: BadRow | Row[Any]) -> contract.RowError:
    return resource(contract.RowError, bad)


def _progress(row: Row[Any], now_ms: int) -> dict[str, int | None]:
    """How far an import is, how fast it goes, and when it ends. The time in which its process was dead counts too."""
    taking_ms = 0 if row.begun_at is None else (row.completed_at or now_ms) - row.begun_at
    rate = row.processed * SECOND / taking_ms if taking_ms > 0 else 0.0
    left = None if row.completed_at or not rate else ceil((row.total_rows - row.processed) / rate)
    return {"percent": _percent(row), "rows_per_second": round(rate) if rate else None, "seconds_left": left}


def _percent(row: Row[Any]) -> int:
    """Before the first row is taken the file is read, which is a part of the whole. Once it has ended it is 100."""
    read = row.read_percent or 0
    taken = (100 - read) * row.processed // row.total_rows if row.total_rows else 0
    return 100 if row.completed_at else read + taken


def show_import(row: Row[Any], now_ms: int) -> contract.AudienceImport:
    """An import as callers see it."""
    return resource(contract.AudienceImport, row, expires_at=_waits_until(row), **_progress(row, now_ms))


def _waits_until(row: Row[Any]) -> datetime | None:
    """Until when an import waits for its file; None where it does not."""
    return moment_or_none(row.upload_expires_at)


@handles(contract.list_audiences)
def list_audiences(asked: contract.ListAudiences, context: RequestContext) -> Page[contract.Audience]:
    """A page of audiences."""
    columns = {name: _A[name] for name in ("name", "status", "created_at", "updated_at")}
    listing = Listing(contract.list_audiences, _WITH_IMPORT.where(_A.org_id == context.org_id), columns, _A.id)
    return context.page(listing, asked, _to_resource)


@handles(contract.get_audience)
def get_audience(asked: contract.GetAudience, context: RequestContext) -> contract.Audience:
    """One audience."""
    return _get_resource(context, asked.id)


def _get_resource(context: RequestContext, audience_id: str) -> contract.Audience:
    shown = _to_resource(find(context, audience_id))
    revision = revisions.of_audience(context, audience_id)
    return shown.model_copy(
        update={"revision": revision, "open_imports": open_imports(context.connection, audience_id)}
    )


@handles(contract.create_audience)
def create_audience(asked: contract.CreateAudience, context: RequestContext) -> contract.NewAudience:
    """A new audience with its first rows."""
    _check_country(asked.default_country)
    check_name_free(context, _NAMED, asked.name)
    row: dict[str, Any] = {
        **asked.model_dump(exclude={"rows", "metadata"}),
        **context.new_row("aud"),
        "status": "empty",
        "columns": "[]",
        **dict.fromkeys(("row_count", "valid_count", "invalid_count", "duplicate_count"), 0),
        "metadata": json_text(asked.metadata),
    }
    context.connection.execute(insert(audiences), row)
    refused = _take_rows(context, row["id"], asked.rows).bad if asked.rows else []
    made = _get_resource(context, row["id"])
    return contract.NewAudience(**dict(made), errors=[_show_error(bad) for bad in refused[:MAX_SHOWN_ERRORS]])


def _check_country(country: str | None) -> None:
    if country is not None and not is_country(country):
        raise invalid("default_country", "is not a country that has phone numbers")


@handles(contract.update_audience, brief=True)
def update_audience(asked: contract.UpdateAudience, context: RequestContext) -> contract.Audience:
    """A changed audience."""
    found, changes = find(context, asked.id), given(asked)
    _check_country(asked.default_country)
    for field in _READING & changes.keys():
        if found.valid_count and changes[field] != getattr(found, field):
            raise invalid(
                field, "can be changed only while the audience has no rows; make another audience and add its people"
            )
    if "name" in changes:
        check_name_free(context, _NAMED, changes["name"], but=asked.id)
    context.connection.execute(update(audiences).where(_A.id == asked.id).values(**changes, updated_at=context.now_ms))
    return _get_resource(context, asked.id)


@handles(contract.delete_audience)
def delete_audience(asked: contract.DeleteAudience, context: RequestContext) -> None:
    """Removes an audience with its rows and imports; those of a large one follow in pieces. Made calls stay."""
    find(context, asked.id)
    check_not_in_use(context, deployments.c.audience_id == asked.id, AUDIENCE_IN_USE, "audience")
    removed_audiences.remove(context.connection, asked.id, now_ms=context.now_ms)


@handles(contract.add_audience_rows)
def add_audience_rows(asked: contract.AddAudienceRows, context: RequestContext) -> contract.RowsAdded:
    """What was added to an audience, and which rows were refused."""
    find(context, asked.id)
    intake = _take_rows(context, asked.id, asked.rows)
    errors = [_show_error(bad) for bad in intake.bad[:MAX_SHOWN_ERRORS]]
    return resource(contract.RowsAdded, intake, audience_id=asked.id, errors=errors)


def _take_rows(context: RequestContext, audience_id: str, rows: Sequence[Mapping[str, Any]]) -> Intake:
    connection, ids, now_ms, by = context.connection, context.ids, context.now_ms, context.spending_key
    url = context.settings.public_url
    return take_rows(connection, ids, audience_id, rows, source="json", now_ms=now_ms, by=by, public_url=url)


@handles(contract.list_audience_rows)
def list_audience_rows(asked: contract.ListAudienceRows, context: RequestContext) -> Page[contract.AudienceRow]:
    """A page of an audience's rows."""
    audience = find(context, asked.id)
    columns = {name: _R[name] for name in ("position", "phone", "external_id")}
    listing = Listing(
        contract.list_audience_rows,
        select(audience_rows).where(_R.audience_id == asked.id),
        columns,
        _R.id,
        default="position",
        countable=("phone",),
        narrow=("phone",),
    )
    finder: Finder | None = None
    if not wanted_of(asked):
        finder = AllRows(RowScan(context.connection, listing.rows), audience.valid_count)
    elif asked.external_id is not None and asked.phone_number is None:
        found = listing.rows.where(*filter_conditions(listing, asked))
        finder = by_own_id(context.connection, asked.id, asked.external_id, found, most=MOST_COUNTED)

    def to_resource(row: Row[Any]) -> contract.AudienceRow:
        values, declined = json.loads(row.cells), json.loads(row.declined or "{}")
        shown = {"values": values, "declined": declined}
        return resource(contract.AudienceRow, row, phone_number=row.phone, name=name_of(values), **shown)

    return context.page(listing, asked, to_resource, finder)


@handles(contract.import_audience)
def import_audience(asked: contract.ImportAudience, context: RequestContext) -> contract.BegunImport:
    """A new import; a worker reads its file, once all of it is there."""
    find(context, asked.id)
    if asked.url is not None:
        _check_url(context, asked.url)
    audience = context.connection.execute(_LOCK, {"id": asked.id}).one()  # waits for a start that checks for imports
    spending_cap.check_additions(context.connection, context.spending_key, asked.id)
    import_id = context.ids.new("imp")
    token, expires_ms = None, None
    if asked.csv is None and asked.file is None and asked.url is None:
        token, expires_ms = TOKEN_PREFIX + secrets.token_urlsafe(32), context.now_ms + BEGINS_MS
    row = {
        "id": import_id,
        "org_id": context.org_id,
        "audience_id": asked.id,
        "status": "uploading" if token else "pending",
        "csv": asked.csv,
        "file": asked.file,
        "source_url": asked.url,
        "upload_token_hash": hash_of(token) if token else None,
        "upload_expires_at": expires_ms,
        **dict.fromkeys(("processed", "added", "invalid", "duplicates"), 0),
        "created_at": context.now_ms,
        "created_by_key_id": context.key_id,
        "created_by_user_id": context.principal.user_id if context.key_id is None else None,
    }
    context.connection.execute(insert(imports), row)
    if audience.status == "empty":
        context.connection.execute(update(audiences).where(_A.id == asked.id).values(status="importing"))
    made = _find_import(context, asked.id, import_id)
    url = f"{context.own_address.root}/uploads/{token}" if token else None
    return resource(contract.BegunImport, made, percent=_percent(made), upload_url=url, expires_at=_waits_until(made))


def _check_url(context: RequestContext, url: str) -> None:
    try:
        webhook_url.check(url, opened=context.settings.webhook_networks, sent="Requests")
    except ValueError as error:
        raise invalid("url", str(error)) from error


@handles(contract.get_audience_import)
def get_audience_import(asked: contract.GetAudienceImport, context: RequestContext) -> contract.AudienceImport:
    """One import, with its progress."""
    return show_import(_find_import(context, asked.id, asked.import_id), context.now_ms)


@handles(contract.list_import_errors)
def list_import_errors(asked: contract.ListImportErrors, context: RequestContext) -> Page[contract.RowError]:
    """A page of the rows an import refused."""
    _find_import(context, asked.id, asked.import_id)
    listing = Listing(
        contract.list_import_errors,
        select(import_errors).where(_E.import_id == asked.import_id),
        {"row_number": _E.row_number, "code": _E.code},
        _E.id,
        default="row_number",
    )
    return context.page(listing, asked, _show_error)
