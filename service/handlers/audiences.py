"""Audiences, their rows and their imports. The import itself runs later, in `workers.imports`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, bindparam, delete, insert, select, update

from callwright.contract import audiences as contract
from callwright.contract.declaration.pagination import Page
from callwright.contract.problems import AUDIENCE_IN_USE
from callwright.list_files.name_columns import name_of
from callwright.service.campaigns import spending_cap
from callwright.service.campaigns.adding_people import Intake, take_rows
from callwright.service.campaigns.start_plan import open_imports
from callwright.service.handlers import revisions
from callwright.service.handlers.changes import check_name_free, check_not_in_use, given
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.database.listing import Listing
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.json_text import json_text
from callwright.service.platform.phone import is_country
from callwright.service.platform.refusals import invalid
from callwright.service.rules.rows import BadRow
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
_WITH_IMPORT = select(audiences, _LAST_IMPORT)
_FIND = _WITH_IMPORT.where(_A.id == bindparam("id"), _A.org_id == bindparam("org"))
_NAMED = Prepared(select(_A.id).where(_A.org_id == bindparam("org"), _A.name == bindparam("name")))
_LOCK = select(_A.status).where(_A.id == bindparam("id")).with_for_update()
_FIND_IMPORT = select(imports).where(
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


def _show_import(row: Row[Any]) -> contract.AudienceImport:
    percent = 100 if row.completed_at else (100 * row.processed // row.total_rows if row.total_rows else 0)
    return resource(contract.AudienceImport, row, percent=percent)


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
    """Removes an audience with its rows and imports. Calls that were made stay."""
    find(context, asked.id)
    check_not_in_use(context, deployments.c.audience_id == asked.id, AUDIENCE_IN_USE, "audience")
    own_imports = select(_I.id).where(_I.audience_id == asked.id)
    context.connection.execute(delete(import_errors).where(_E.import_id.in_(own_imports)))
    context.connection.execute(delete(imports).where(_I.audience_id == asked.id))
    context.connection.execute(delete(audience_rows).where(_R.audience_id == asked.id))
    context.connection.execute(delete(audiences).where(_A.id == asked.id))


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
    find(context, asked.id)
    columns = {name: _R[name] for name in ("position", "phone", "external_id")}
    listing = Listing(
        contract.list_audience_rows,
        select(audience_rows).where(_R.audience_id == asked.id),
        columns,
        _R.id,
        default="position",
        countable=("phone",),
    )

    def to_resource(row: Row[Any]) -> contract.AudienceRow:
        values, declined = json.loads(row.cells), json.loads(row.declined or "{}")
        shown = {"values": values, "declined": declined}
        return resource(contract.AudienceRow, row, phone_number=row.phone, name=name_of(values), **shown)

    return context.page(listing, asked, to_resource)


@handles(contract.import_audience)
def import_audience(asked: contract.ImportAudience, context: RequestContext) -> contract.AudienceImport:
    """A new import; a worker reads its file."""
    find(context, asked.id)
    audience = context.connection.execute(_LOCK, {"id": asked.id}).one()  # waits for a start that checks for imports
    spending_cap.check_additions(context.connection, context.spending_key, asked.id)
    import_id = context.ids.new("imp")
    row = {
        "id": import_id,
        "org_id": context.org_id,
        "audience_id": asked.id,
        "status": "pending",
        "csv": asked.csv,
        "file": asked.file,
        **dict.fromkeys(("processed", "added", "invalid", "duplicates"), 0),
        "created_at": context.now_ms,
        "created_by_key_id": context.key_id,
    }
    context.connection.execute(insert(imports), row)
    if audience.status == "empty":
        context.connection.execute(update(audiences).where(_A.id == asked.id).values(status="importing"))
    return _show_import(_find_import(context, asked.id, import_id))


@handles(contract.get_audience_import)
def get_audience_import(asked: contract.GetAudienceImport, context: RequestContext) -> contract.AudienceImport:
    """One import, with its progress."""
    return _show_import(_find_import(context, asked.id, asked.import_id))


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
