"""Exports of a deployment: which rows, in which order, a page at a time."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, select, tuple_

from callwright.contract.calls.calls import Call
from callwright.contract.declaration.model import Resource
from callwright.contract.deployments import exports as contract
from callwright.contract.people import DELETED_NUMBER
from callwright.service.dialling.eligibility.campaign_hours import CampaignHours
from callwright.service.handlers.calls.calls import shown_in_json
from callwright.service.handlers.deployments.rows import find
from callwright.service.handlers.deployments.view import show_contact
from callwright.service.handlers.exports.columns import Shown, columns_of
from callwright.service.handlers.request_context import Position, RequestContext, TableRequest, handles_media
from callwright.service.handlers.resources import resource
from callwright.service.platform.database.listing import after_position, in_order
from callwright.service.platform.refusals import invalid
from callwright.service.platform.table_columns import Cells, writes_parquet
from callwright.service.tables.counters import stats_of
from callwright.service.tables.schema import audience_rows, calls, deployment_contacts, import_errors, imports

_K, _C, _E, _I = deployment_contacts.c, calls.c, import_errors.c, imports.c
_IMPORT = select(_I.id).where(
    _I.id == bindparam("id"), _I.org_id == bindparam("org"), _I.audience_id == bindparam("audience")
)
PAGE_ROWS = 1_000
"""Rows that are read at a time."""
Read = Callable[[Connection, Position | None], tuple[Sequence[Shown], Position | None]]
"""The rows behind a position as JSON has them, and the position of the last of them; None at the end."""


@handles_media(contract.export_deployment)
def export_deployment(asked: contract.ExportDeployment, context: RequestContext) -> TableRequest:
    """The rows of a deployment. Raises `Refusal`: not_found; invalid_field for Parquet where its extra is missing."""
    deployment = find(context, asked.id, lock=False)
    if asked.format == "parquet" and not writes_parquet():
        raise invalid(
            "format",
            "this service cannot write parquet: ask for csv, or install the extra where the service runs "
            "(pip install 'callwright[parquet]') and start it again",
        )
    model, read = _TABLES[asked.of]
    if asked.import_id is not None:
        if asked.of != "rejects":
            raise invalid("import_id", "only rejects are those of an import: give of=rejects too, or leave it out")
        context.one(_IMPORT, field="import_id", id=asked.import_id, audience=deployment.audience_id)
        read = partial(_rejects, only=asked.import_id)
    found, rows = columns_of(model, is_masked=asked.masked), read(context, deployment)

    def page(connection: Connection, last: Position | None) -> tuple[list[Cells], Position | None]:
        shown, ends = rows(connection, last)
        return [found.cells(row) for row in shown], ends

    file_name = f"{deployment.id}-{asked.of}.{asked.format}"
    return TableRequest(found.columns, page, form=asked.format, file_name=file_name)


def _contacts(context: RequestContext, deployment: Row[Any]) -> Read:
    simulated: bool = deployment.simulated
    order = ((_K.position, False), (_K.id, False))
    people = (
        select(deployment_contacts, *(audience_rows.c[name] for name in ("cells", "timezone", "external_id")))
        .add_columns(_C.callback_at)
        .outerjoin(audience_rows, audience_rows.c.id == _K.id)
        .outerjoin(calls, _C.id == _K.last_call_id)
        .where(_K.deployment_id == deployment.id)
    )

    def read(connection: Connection, last: Position | None) -> tuple[Sequence[Shown], Position | None]:
        hours = CampaignHours.of(connection, deployment)
        found, ends = _page(connection, people, order, last)
        rows = [show_contact(row, deployment, hours) for row in found if row.phone != DELETED_NUMBER]
        return [row.model_dump(mode="json", by_alias=True) | {"simulated": simulated} for row in rows], ends

    return read


def _calls(context: RequestContext, deployment: Row[Any]) -> Read:
    own = select(calls).where(_C.org_id == context.org_id, _C.deployment_id == deployment.id)
    order = ((_C.created_at, True), (_C.id, True))

    def read(connection: Connection, last: Position | None) -> tuple[Sequence[Shown], Position | None]:
        found, ends = _page(connection, own, order, last)
        return shown_in_json(replace(context, connection=connection), found), ends

    return read


def _outcomes(context: RequestContext, deployment: Row[Any]) -> Read:
    def read(connection: Connection, last: Position | None) -> tuple[Sequence[Shown], Position | None]:
        stats = stats_of(deployment)
        own = {"deployment_id": deployment.id, "simulated": deployment.simulated}
        counters = {
            "outcome": stats.outcomes,
            "disposition": stats.dispositions,
            "last_outcome": stats.last_outcomes,
        }
        return [
            {**own, "counted": counted, "result": result, "count": count}
            for counted, counts in counters.items()
            for result, count in sorted(counts.items())
        ], None

    return read


def _rejects(context: RequestContext, deployment: Row[Any], *, only: str | None = None) -> Read:
    """What imports into the audience refused, or what `only` this one did."""
    simulated: bool = deployment.simulated
    every = select(_I.id).where(_I.org_id == context.org_id, _I.audience_id == deployment.audience_id)
    every = every if only is None else every.where(_I.id == only)
    position = tuple_(_E.row_number, _E.id)

    def read(connection: Connection, last: Position | None) -> tuple[Sequence[Shown], Position | None]:
        import_id, place = (None, None) if last is None else (last[0], last[1:])
        found: list[Row[Any]] = []
        while len(found) < PAGE_ROWS:
            if place is None:
                later = every if import_id is None else every.where(_I.id > import_id)
                import_id = connection.execute(later.order_by(_I.id).limit(1)).scalar()
                if import_id is None:
                    break
            refused = select(import_errors).where(_E.import_id == import_id)
            rest = refused if not place else refused.where(position > tuple_(*place))
            most = PAGE_ROWS - len(found)
            rows = connection.execute(rest.order_by(_E.row_number, _E.id).limit(most)).all()
            found += rows
            place = (rows[-1].row_number, rows[-1].id) if len(rows) == most else None
        rejects = [resource(contract.Reject, row, simulated=simulated) for row in found]
        ends = (import_id, *(place or ())) if import_id is not None and len(found) == PAGE_ROWS else None
        return [row.model_dump(mode="json", by_alias=True) for row in rejects], ends

    return read


_TABLES: dict[contract.ExportedRows, tuple[type[Resource], Callable[[RequestContext, Row[Any]], Read]]] = {
    "contacts": (contract.ExportedContact, _contacts),
    "calls": (Call, _calls),
    "outcomes": (contract.CountedOutcome, _outcomes),
    "rejects": (contract.Reject, _rejects),
}


def _page(
    connection: Connection, rows: Select[Any], order: Sequence[tuple[Any, bool]], last: Position | None
) -> tuple[Sequence[Row[Any]], Position | None]:
    """The next rows in an order, and the position of the last of them if there may be more."""
    rest = rows if last is None else rows.where(after_position(order, last))
    found = connection.execute(in_order(rest, order).limit(PAGE_ROWS)).all()
    ends = tuple(getattr(found[-1], column.name) for column, _ in order) if len(found) == PAGE_ROWS else None
    return found, ends
