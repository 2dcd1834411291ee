"""What the dashboard shows of the imports of an audience beside what the operations give.

All of them, what one that has not ended waits for, and the rows that one refused as a table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, func, or_, select, tuple_

from callwright.contract.audiences import AudienceImport
from callwright.contract.row_errors import RowError
from callwright.service.handlers.audiences import IMPORTS, show_import
from callwright.service.handlers.exports.columns import columns_of
from callwright.service.handlers.request_context import Position, TableRequest
from callwright.service.handlers.resources import resource
from callwright.service.platform.table_columns import Cells
from callwright.service.tables.schema import import_errors, imports

_I, _E = imports.c, import_errors.c
PAGE_ROWS = 1_000
"""Rows that are read at a time."""


@dataclass(frozen=True)
class ShownImport:
    """An import, and what it waits for if it has not ended."""

    found: AudienceImport
    is_fetched: bool = False
    """Whether the service fetches its file from a URL now."""
    ahead: int = 0
    """How many imports of the organization are read before its file, which is there."""

    @property
    def waits_for_file(self) -> bool:
        """Whether its file is to be uploaded."""
        return self.found.status == "uploading"


def imports_of(
    connection: Connection, org_id: str, audience_id: str, now_ms: int, *, most: int, before: str | None = None
) -> list[ShownImport]:
    """So many imports of an audience at most, the newest first; with `before` those that are older than this one."""
    mine = and_(_I.org_id == org_id, _I.audience_id == audience_id)
    wanted = IMPORTS.where(mine)
    if before is not None:
        place = connection.execute(select(_I.created_at, _I.id).where(mine, _I.id == before)).one_or_none()
        if place is None:
            return []
        wanted = wanted.where(tuple_(_I.created_at, _I.id) < tuple_(*place))
    rows = connection.execute(wanted.order_by(_I.created_at.desc(), _I.id.desc()).limit(most)).all()
    return [_shown(connection, row, now_ms) for row in rows]


def open_imports_of(
    connection: Connection, org_id: str, audience_id: str, now_ms: int, *, most: int
) -> list[ShownImport]:
    """The imports of an audience that have not ended, the oldest first, so many at most."""
    is_open = and_(_I.org_id == org_id, _I.audience_id == audience_id, _I.completed_at.is_(None))
    rows = connection.execute(IMPORTS.where(is_open).order_by(_I.created_at, _I.id).limit(most)).all()
    return [_shown(connection, row, now_ms) for row in rows]


def import_of(connection: Connection, org_id: str, audience_id: str, import_id: str, now_ms: int) -> ShownImport | None:
    """One import; None if the audience has no such import."""
    is_it = and_(_I.org_id == org_id, _I.audience_id == audience_id, _I.id == import_id)
    row = connection.execute(IMPORTS.where(is_it)).one_or_none()
    return None if row is None else _shown(connection, row, now_ms)


def _shown(connection: Connection, row: Row[Any], now_ms: int) -> ShownImport:
    found = show_import(row, now_ms)
    if row.status != "pending":
        return ShownImport(found)
    is_fetched = connection.execute(select(_I.source_url.is_not(None)).where(_I.id == row.id)).scalar()
    if is_fetched:
        return ShownImport(found, is_fetched=True)
    is_there = and_(_I.completed_at.is_(None), _I.status != "uploading", _I.source_url.is_(None))
    first = or_(_I.status == "importing", tuple_(_I.created_at, _I.id) < tuple_(row.created_at, row.id))
    others = select(func.count()).where(_I.org_id == row.org_id, _I.id != row.id, is_there, first)
    return ShownImport(found, ahead=connection.execute(others).scalar_one())


def refused_rows(import_id: str, *, is_masked: bool) -> TableRequest:
    """The rows that an import refused, as CSV. `is_masked`: without what the list says, for viewers."""
    found = columns_of(RowError, is_masked=is_masked)
    rows: Select[*tuple[Any, ...]] = select(import_errors).where(_E.import_id == import_id)
    position = tuple_(_E.row_number, _E.id)

    def page(connection: Connection, last: Position | None) -> tuple[Sequence[Cells], Position | None]:
        rest = rows if last is None else rows.where(position > tuple_(*last))
        read = connection.execute(rest.order_by(_E.row_number, _E.id).limit(PAGE_ROWS)).all()
        ends = (read[-1].row_number, read[-1].id) if len(read) == PAGE_ROWS else None
        shown = (resource(RowError, row).model_dump(mode="json", by_alias=True) for row in read)
        return [found.cells(row) for row in shown], ends

    return TableRequest(found.columns, page, file_name=f"{import_id}-refused.csv")
