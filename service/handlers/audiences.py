"""Audiences, their rows and their imports. The import itself runs later, in `dialler.imports`."""

import json
from typing import Any

from sqlalchemy import Row, bindparam, delete, insert, select, update

from callwright.contract import audiences as contract
from callwright.contract.checks.phone_columns import USUAL as USUAL_PHONE_COLUMN
from callwright.contract.declaration.pagination import Page
from callwright.contract.problems import AUDIENCE_IN_USE
from callwright.service.campaigns import spending_cap
from callwright.service.campaigns.intake import Taken, take_rows
from callwright.service.campaigns.plan_parts import open_imports
from callwright.service.handlers import revisions
from callwright.service.handlers.changes import LIVE, check_name_free, given
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.platform.clock.clock import moment, moment_or_none
from callwright.service.platform.database.listing import Listing, page_of
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.json_text import json_text
from callwright.service.platform.phone import is_country
from callwright.service.platform.refusals import Refusal, invalid, not_found
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
_IN_USE = (
    select(deployments.c.id)
    .where(deployments.c.audience_id == bindparam("id"), deployments.c.status.in_(LIVE))
    .order_by(deployments.c.id)
    .limit(1)
)
MAX_SHOWN_ERRORS = 100


def find(context: RequestContext, audience_id: str, *, field: str | None = None) -> Row[Any]:
    """The audience's row. Raises `Refusal`: not_found."""
    row = context.connection.execute(_FIND, {"id": audience_id, "org": context.org_id}).one_or_none()
    if row is None:
        raise not_found(field)
    return row


def _find_import(context: RequestContext, audience_id: str, import_id: str) -> Row[Any]:
    find(context, audience_id)
    statement = select(imports).where(_I.id == import_id, _I.audience_id == audience_id, _I.org_id == context.org_id)
    row = context.connection.execute(statement).one_or_none()
    if row is None:
        raise not_found()
    return row


def _show(row: Row[Any]) -> contract.Audience:
    columns = [
        contract.Column(
            name=column["name"],
            type=column["type"] or "string",
            sample=column["sample"],
            fill_rate=round(column["filled"] / row.valid_count, 4) if row.valid_count else 0.0,
        )
        for column in json.loads(row.columns)
    ]
    return contract.Audience(
        id=row.id,
        created_at=moment(row.created_at),
        updated_at=moment(row.updated_at),
        created_by_key_id=row.created_by_key_id,
        name=row.name,
        description=row.description,
        status=row.status,
        source=row.source,
        phone_column=row.phone_column or USUAL_PHONE_COLUMN,
        default_country=row.default_country,
        timezone_column=row.timezone_column,
        external_id_column=row.external_id_column,
        dedupe=row.dedupe,
        columns=columns,
        row_count=row.row_count,
        valid_count=row.valid_count,
        invalid_count=row.invalid_count,
        duplicate_count=row.duplicate_count,
        last_imported_at=moment_or_none(row.last_imported_at),
        last_import_id=row.last_import_id,
        metadata=json.loads(row.metadata),
    )


def _show_error(bad: BadRow) -> contract.RowError:
    return contract.RowError(
        row_number=bad.number, column=bad.column, code=bad.code, message=bad.message, value_redacted=bad.value_redacted
    )


def _show_import(row: Row[Any]) -> contract.AudienceImport:
    percent = 100 if row.completed_at else (100 * row.processed // row.total_rows if row.total_rows else 0)
    return contract.AudienceImport(
        id=row.id,
        audience_id=row.audience_id,
        status=row.status,
        status_reason=row.status_reason,
        total_rows=row.total_rows,
        processed=row.processed,
        percent=percent,
        added=row.added,
        invalid=row.invalid,
        duplicates=row.duplicates,
        created_at=moment(row.created_at),
        completed_at=moment_or_none(row.completed_at),
        created_by_key_id=row.created_by_key_id,
    )


@handles(contract.list_audiences)
def list_audiences(asked: contract.ListAudiences, context: RequestContext) -> Page[contract.Audience]:
    """A page of audiences."""
    columns = {name: _A[name] for name in ("name", "status", "created_at", "updated_at")}
    listing = Listing(contract.list_audiences, _WITH_IMPORT.where(_A.org_id == context.org_id), columns, _A.id)
    return page_of(context.connection, context.cursors, listing, asked, org_id=context.org_id, show=_show)


@handles(contract.get_audience)
def get_audience(asked: contract.GetAudience, context: RequestContext) -> contract.Audience:
    """One audience."""
    return _seen(context, asked.id)


def _seen(context: RequestContext, audience_id: str) -> contract.Audience:
    shown = _show(find(context, audience_id))
    there = {
        "revision": revisions.of_audience(context, audience_id),
        "open_imports": open_imports(context.connection, audience_id),
    }
    return shown.model_copy(update=there)


@handles(contract.create_audience)
def create_audience(asked: contract.CreateAudience, context: RequestContext) -> contract.NewAudience:
    """A new audience with its first rows."""
    if asked.default_country is not None and not is_country(asked.default_country):
        raise invalid("default_country", "is not a country that has phone numbers")
    check_name_free(context, _NAMED, asked.name)
    audience_id = context.ids.new("aud")
    context.connection.execute(
        insert(audiences),
        {
            **asked.model_dump(exclude={"rows", "metadata"}),
            "id": audience_id,
            "org_id": context.org_id,
            "status": "empty",
            "columns": "[]",
            "row_count": 0,
            "valid_count": 0,
            "invalid_count": 0,
            "duplicate_count": 0,
            "metadata": json_text(asked.metadata),
            "created_at": context.now_ms,
            "updated_at": context.now_ms,
            "created_by_key_id": context.key_id,
        },
    )
    refused: list[BadRow] = []
    if asked.rows:
        refused = take_rows(
            context.connection,
            context.ids,
            audience_id,
            asked.rows,
            source="json",
            now_ms=context.now_ms,
            by=context.answerable,
        ).bad
    made = _seen(context, audience_id)
    return contract.NewAudience(**dict(made), errors=[_show_error(bad) for bad in refused[:MAX_SHOWN_ERRORS]])


@handles(contract.update_audience, brief=True)
def update_audience(asked: contract.UpdateAudience, context: RequestContext) -> contract.Audience:
    """A changed audience."""
    find(context, asked.id)
    changes = given(asked)
    if "name" in changes:
        check_name_free(context, _NAMED, changes["name"], but=asked.id)
    if "metadata" in changes:
        changes["metadata"] = json_text(changes["metadata"])
    context.connection.execute(update(audiences).where(_A.id == asked.id).values(**changes, updated_at=context.now_ms))
    return _seen(context, asked.id)


@handles(contract.delete_audience)
def delete_audience(asked: contract.DeleteAudience, context: RequestContext) -> None:
    """Removes an audience with its rows and imports. Calls that were made stay."""
    find(context, asked.id)
    user = context.connection.execute(_IN_USE, {"id": asked.id}).scalar()
    if user is not None:
        message = f"deployment {user} uses this audience and is not finished"
        raise Refusal(AUDIENCE_IN_USE, message, details={"used_by": user})
    own_imports = select(_I.id).where(_I.audience_id == asked.id)
    context.connection.execute(delete(import_errors).where(_E.import_id.in_(own_imports)))
    context.connection.execute(delete(imports).where(_I.audience_id == asked.id))
    context.connection.execute(delete(audience_rows).where(_R.audience_id == asked.id))
    context.connection.execute(delete(audiences).where(_A.id == asked.id))


@handles(contract.add_audience_rows)
def add_audience_rows(asked: contract.AddAudienceRows, context: RequestContext) -> contract.RowsAdded:
    """Rows taken into an audience."""
    find(context, asked.id)
    taken: Taken = take_rows(
        context.connection,
        context.ids,
        asked.id,
        asked.rows,
        source="json",
        now_ms=context.now_ms,
        by=context.answerable,
    )
    return contract.RowsAdded(
        audience_id=asked.id,
        received=taken.received,
        added=taken.added,
        invalid=taken.invalid,
        duplicates=taken.duplicates,
        errors=[_show_error(bad) for bad in taken.bad[:MAX_SHOWN_ERRORS]],
    )


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
        counted=("phone",),
    )

    def show(row: Row[Any]) -> contract.AudienceRow:
        return contract.AudienceRow(
            id=row.id,
            audience_id=row.audience_id,
            phone_number=row.phone,
            country=row.country,
            timezone=row.timezone,
            external_id=row.external_id,
            values=json.loads(row.cells),
            created_at=moment(row.created_at),
        )

    return page_of(context.connection, context.cursors, listing, asked, org_id=context.org_id, show=show)


@handles(contract.import_audience)
def import_audience(asked: contract.ImportAudience, context: RequestContext) -> contract.AudienceImport:
    """An import that waits for its worker."""
    find(context, asked.id)
    audience = context.connection.execute(_LOCK, {"id": asked.id}).one()  # no start is half way past its check
    spending_cap.check_joining(context.connection, context.answerable, asked.id)
    import_id = context.ids.new("imp")
    row = {
        "id": import_id,
        "org_id": context.org_id,
        "audience_id": asked.id,
        "status": "pending",
        "csv": asked.csv,
        "processed": 0,
        "added": 0,
        "invalid": 0,
        "duplicates": 0,
        "created_at": context.now_ms,
        "created_by_key_id": context.key_id,
    }
    context.connection.execute(insert(imports), row)
    if audience.status == "empty":
        context.connection.execute(update(audiences).where(_A.id == asked.id).values(status="importing"))
    return _show_import(_find_import(context, asked.id, import_id))


@handles(contract.get_audience_import)
def get_audience_import(asked: contract.GetAudienceImport, context: RequestContext) -> contract.AudienceImport:
    """How far an import is."""
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

    def show(row: Row[Any]) -> contract.RowError:
        return contract.RowError(
            row_number=row.row_number,
            column=row.column,
            code=row.code,
            message=row.message,
            value_redacted=row.value_redacted,
        )

    return page_of(context.connection, context.cursors, listing, asked, org_id=context.org_id, show=show)
