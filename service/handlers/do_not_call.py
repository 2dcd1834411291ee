"""The do-not-call list, read, filled, emptied one by one, imported and exported."""

from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from callwright.contract import do_not_call as contract
from callwright.contract.declaration.pagination import Page
from callwright.list_files.unreadable import UnreadableList
from callwright.service.dialling.eligibility import do_not_call as numbers
from callwright.service.handlers.request_context import (
    Position,
    RequestContext,
    TableRequest,
    handles,
    handles_media,
)
from callwright.service.handlers.resources import resource
from callwright.service.platform.clock.clock import instant_or_none, moment_or_none
from callwright.service.platform.database.listing import Listing, Span, after_position, in_order
from callwright.service.platform.phone import is_country
from callwright.service.platform.refusals import invalid
from callwright.service.platform.table_columns import Cells, Column
from callwright.service.rules.do_not_call.entries import ReadEntries, RefusedEntry, read_entries
from callwright.service.rules.do_not_call.files import read_file
from callwright.service.tables.schema import do_not_call

_N = do_not_call.c
_FIND = select(do_not_call).where(_N.id == bindparam("id"), _N.org_id == bindparam("org"))
_COLUMNS = ("created_at", "number", "reason", "source_call_id", "simulated")
_EXPORTED = (
    *(Column("number"), Column("reason"), Column("created_at", "moment"), Column("expires_at", "moment")),
    *(Column("source_call_id"), Column("simulated", "truth"), Column("note")),
)
EXPORT_PAGE = 5_000
"""Rows that an export reads at a time."""


def _to_resource(row: Row[Any]) -> contract.DoNotCallEntry:
    return resource(contract.DoNotCallEntry, row, note=row.note or "")


@handles(contract.list_do_not_call)
def list_do_not_call(asked: contract.ListDoNotCall, context: RequestContext) -> Page[contract.DoNotCallEntry]:
    """A page of entries."""
    rows = select(do_not_call).where(_N.org_id == context.org_id)
    if asked.number is not None and asked.simulated is None:
        rows = rows.where(_N.simulated.in_((True, False)))  # the index of numbers has it before the number
    columns = {name: _N[name] for name in _COLUMNS}
    listing = Listing(contract.list_do_not_call, rows, columns, _N.id, countable=("number", "source_call_id"))
    return context.page(listing, asked, _to_resource)


@handles(contract.get_do_not_call)
def get_do_not_call(asked: contract.GetDoNotCall, context: RequestContext) -> contract.DoNotCallEntry:
    """One entry."""
    return _to_resource(context.one(_FIND, id=asked.id))


@handles(contract.add_do_not_call)
def add_do_not_call(asked: contract.AddDoNotCall, context: RequestContext) -> contract.DoNotCallAdded:
    """Numbers that are on the list from now on, and those that were refused."""
    _check_country(asked.default_country)
    read = read_entries(asked.entries, asked.default_country)
    listed = _list_numbers(context, read, simulated=asked.simulated)
    entries = [
        contract.ListedNumber(
            id=one.id, number=one.number, result=one.result, expires_at=moment_or_none(one.expires_ms)
        )
        for one in listed.entries
    ]
    return contract.DoNotCallAdded(**_counts(read, listed), entries=entries, errors=list(map(_refused, read.refused)))


def _check_country(country: str | None) -> None:
    if country is not None and not is_country(country):
        raise invalid("default_country", "is not a country that has phone numbers; give one such as US")


def _list_numbers(context: RequestContext, read: ReadEntries, *, simulated: bool) -> numbers.Listed:
    read.refuse_those_that_are_over(context.now_ms)
    return numbers.list_numbers(
        context.connection,
        context.ids,
        context.org_id,
        read.good,
        simulated=simulated,
        now_ms=context.now_ms,
        key_id=context.key_id,
    )


def _counts(read: ReadEntries, listed: numbers.Listed) -> dict[str, int]:
    added, extended = listed.count("added"), listed.count("extended")
    return {
        "received": read.received,
        "added": added,
        "extended": extended,
        "already_there": len(read.good) - added - extended,
        "kept_permanent": listed.kept_permanent,
        "refused": len(read.refused),
    }


def _refused(entry: RefusedEntry) -> contract.RefusedNumber:
    return resource(contract.RefusedNumber, entry)


@handles(contract.remove_do_not_call)
def remove_do_not_call(asked: contract.RemoveDoNotCall, context: RequestContext) -> None:
    """Removes an entry. One of an opt-out on a call needs a reason."""
    entry = context.one(_FIND, id=asked.id)
    if entry.reason == numbers.OPTED_OUT and not (asked.reason or "").strip():
        raise invalid("reason", "its person asked on a call not to be called again; say why it is removed all the same")
    numbers.remove(context.connection, context.org_id, asked.id)


def _read_file(asked: contract.ImportDoNotCall) -> ReadEntries:
    """The file of an import, read before its transaction: the numbers of a large one take seconds."""
    _check_country(asked.default_country)
    try:
        return read_file(asked)
    except UnreadableList as error:
        raise invalid("csv", str(error)) from error


@handles(contract.import_do_not_call, prepare=_read_file)
def import_do_not_call(asked: contract.ImportDoNotCall, context: RequestContext) -> contract.DoNotCallImported:
    """What became of the rows of a file."""
    read: ReadEntries = context.prepared
    listed = _list_numbers(context, read, simulated=asked.simulated)
    errors = list(map(_refused, read.refused[: contract.MOST_ERRORS]))
    return contract.DoNotCallImported(
        **_counts(read, listed),
        read_as=read.read_as,
        number_columns=list(read.number_columns),
        unread_number_columns=list(read.unread_number_columns),
        notices=list(read.notices),
        errors=errors,
    )


@handles_media(contract.export_do_not_call)
def export_do_not_call(asked: contract.ExportDoNotCall, context: RequestContext) -> TableRequest:
    """The list as CSV, written page by page after this unit of work."""
    rows = select(do_not_call).where(_N.org_id == context.org_id)
    if asked.simulated is not None:
        rows = rows.where(_N.simulated.is_(asked.simulated))
    order = ((_N.created_at, True), (_N.id, True))

    def page(connection: Connection, last: Position | None) -> tuple[list[Cells], Position | None]:
        span = Span(order, EXPORT_PAGE, last=last)
        rest = rows if span.last is None else rows.where(after_position(span.order, span.last))
        found = connection.execute(in_order(rest, order).limit(span.count)).all()
        ends = found[-1] if len(found) == EXPORT_PAGE else None
        return [_cells(row) for row in found], None if ends is None else (ends.created_at, ends.id)

    return TableRequest(_EXPORTED, page)


def _cells(row: Row[Any]) -> Cells:
    made = (instant_or_none(row.created_at), instant_or_none(row.expires_at), row.source_call_id)
    return row.number, row.reason, *made, row.simulated, row.note
