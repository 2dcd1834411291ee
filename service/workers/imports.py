"""Imports files into audiences in pieces, each in one transaction together with its progress.

After a crash an import continues after the last piece that was committed; no row is added twice.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anyio import to_thread
from sqlalchemy import ColumnElement, Connection, Row, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import DBAPIError

from callwright.contract.events import AUDIENCE_IMPORT_COMPLETED, ImportCompleted
from callwright.list_files.unreadable import UnreadableList
from callwright.service.accounts.principals import SERVICE
from callwright.service.campaigns.adding_people import rules_of, take_rows
from callwright.service.campaigns.spending_cap import lock_spending_key
from callwright.service.platform.clock.clock import HOUR
from callwright.service.platform.database.units import brief
from callwright.service.platform.lease import RELEASED, LeaseLost
from callwright.service.platform.phone import redacted
from callwright.service.platform.refusals import Refusal
from callwright.service.rules.rows import BadRow, external_id_of, read_row
from callwright.service.services import Services
from callwright.service.tables import audit_log, outbox
from callwright.service.tables.schema import audiences, import_errors, imports
from callwright.service.tables.schema.leases import IMPORTS
from callwright.service.workers.imported_files import ImportedFile, read_file

log = logging.getLogger(__name__)
_I = imports.c
PIECE = 500
"""Rows of one transaction, few enough that other writes are not delayed noticeably."""
_WAITS = select(_I.id).where(_I.completed_at.is_(None)).order_by(_I.created_at).limit(1)
_BEGUN = update(imports).where(_I.id == bindparam("b_id")).values(status="importing")
_FIND = select(imports).where(_I.id == bindparam("id"))
_AGE = select(_I.created_at).where(_I.id == bindparam("id"))
EXPIRES_MS = 6 * HOUR
"""An import that has not ended by then fails: while it is open no deployment of its audience starts."""
_AUDIENCE = select(audiences).where(audiences.c.id == bindparam("id"))
_REFUSED = ("22", "23", "54")
"""Classes of SQLSTATE that say the data cannot be stored: trying again would not help."""


async def work_on_one(services: Services, owner: str) -> bool:
    """Runs the oldest waiting import to its end; false when none waits."""
    now_ms = services.clock.now_ms()
    if not await services.database.read(_waits, owner, now_ms):
        return False
    found = await services.database.write(_take, services, owner)
    if found is None:
        return False
    try:
        if not await services.database.write(_expired, services, found, owner):
            await _work(services, found, owner)
    except LeaseLost:
        log.warning("another process works on an import now", extra={"import_id": found})
    return True


async def _work(services: Services, import_id: str, owner: str) -> None:
    row: Row[Any] = await services.database.read(lambda connection: connection.execute(_FIND, {"id": import_id}).one())
    audience: Row[Any] | None = await services.database.read(
        lambda connection: connection.execute(_AUDIENCE, {"id": row.audience_id}).one_or_none()
    )
    if audience is None:
        raise LeaseLost(import_id)  # it was deleted with its imports
    try:
        file = await to_thread.run_sync(read_file, row, audience)
    except UnreadableList as error:
        await services.database.write(_fail, services, import_id, owner, str(error))
        return
    done, total = row.processed, len(file.records)
    if not done:
        bad = await to_thread.run_sync(_bad_rows, audience, file)
        if 2 * len(bad) > total:
            await _refuse(services, import_id, owner, file, bad)
            return
    while done < total:
        end = min(done + PIECE, total)
        try:
            await services.database.write(
                _take_piece, services, import_id, owner, file, done, end, row.created_by_key_id
            )
        except Refusal as refusal:
            await services.database.write(_fail, services, import_id, owner, refusal.message.removeprefix("rows: "))
            return
        except DBAPIError as error:
            if str(getattr(error.orig, "sqlstate", None))[:2] not in _REFUSED:
                raise
            log.error("rows of an import cannot be stored", extra={"import_id": import_id})
            reason = f"the database cannot store a value in rows {done + 1} to {end}"
            await services.database.write(_fail, services, import_id, owner, reason)
            return
        done = end
    await services.database.write(_complete, services, import_id, owner)


def _bad_rows(audience: Row[Any], file: ImportedFile) -> list[BadRow]:
    """The rows that cannot be read; duplicates are not among them. Nothing is stored."""
    rows, bad = file.numbered(0, len(file.records))
    rules = rules_of(audience, [cells for _, cells in rows[:1]], file.phone_column)
    for number, row in rows:
        if isinstance(read := read_row(number, row, rules), BadRow):
            bad.append(replace(read, external_id=external_id_of(row, rules)))
    return sorted(bad, key=lambda one: one.row_number)


async def _refuse(services: Services, import_id: str, owner: str, file: ImportedFile, bad: Sequence[BadRow]) -> None:
    """Ends an import of a file that is mostly bad, for example with numbers in another column. No row is added.

    Otherwise the few rows that can be read would join running campaigns. After a crash the import starts again.
    """
    total = len(file.records)
    for begin in range(0, len(bad), PIECE):
        piece = bad[begin : begin + PIECE]
        await services.database.write(_list_bad, services, import_id, owner, file, piece, begin == 0)
    reason = (
        f"{len(bad):,} of {total:,} rows are bad, which is more than half, so none was taken. list_import_errors says "
        f"what is wrong with them. Numbers were read from the column {redacted(file.phone_column)}. Correct the file "
        "and import it again; if the column or the country is wrong, first set phone_column or default_country with "
        "update_audience, which works while the audience is empty."
    )
    zones = [one.column for one in bad if one.code == "invalid_timezone"]
    if 2 * len(zones) > len(bad):
        reason += (
            f" Time zones were read from the column {redacted(str(zones[0]))}: write names such as America/New_York, "
            "or give the column another name if it holds none."
        )
    await services.database.write(_fail_whole, services, import_id, owner, reason, len(bad), file)


def _list_bad(
    connection: Connection,
    services: Services,
    import_id: str,
    owner: str,
    file: ImportedFile,
    bad: Sequence[BadRow],
    anew: bool,
) -> None:
    IMPORTS.mine(connection, import_id, owner)
    if anew:
        connection.execute(delete(import_errors).where(import_errors.c.import_id == import_id))
    _keep_errors(connection, services, import_id, file, bad)
    connection.execute(update(imports).where(_I.id == import_id).values(lease_until=_until(connection, services)))


def _fail_whole(
    connection: Connection,
    services: Services,
    import_id: str,
    owner: str,
    reason: str,
    bad: int,
    file: ImportedFile,
) -> None:
    IMPORTS.mine(connection, import_id, owner)
    total = len(file.records)
    values = {"total_rows": total, "processed": total, "invalid": bad, "read_as": file.read_as}
    connection.execute(update(imports).where(_I.id == import_id).values(values))
    _fail(connection, services, import_id, owner, reason)


def _keep_errors(
    connection: Connection, services: Services, import_id: str, file: ImportedFile, bad: Sequence[BadRow]
) -> None:
    errors = [
        {
            "id": services.ids.new("ier"),
            "import_id": import_id,
            **vars(one),
            "line": file.line_of(one.row_number),
        }
        for one in bad
    ]
    if errors:
        connection.execute(insert(import_errors), errors)


@brief
def _waits(connection: Connection, owner: str, now_ms: int) -> bool:
    return connection.execute(_WAITS.where(IMPORTS.free(connection, owner, now_ms))).first() is not None


def _until(connection: Connection, services: Services) -> ColumnElement[int]:
    """When the lease of an import ends if it is renewed now."""
    now_ms = services.clock.now_ms()
    return IMPORTS.until(connection, now_ms, now_ms + services.settings.deployment_lease_ms)


def _take(connection: Connection, services: Services, owner: str) -> str | None:
    """Leases the oldest import that waits and is not locked; returns its id, or None."""
    now_ms = services.clock.now_ms()
    taken = IMPORTS.take(connection, _WAITS, owner, now_ms, now_ms + services.settings.deployment_lease_ms)
    for row in taken:
        connection.execute(_BEGUN, {"b_id": row.id})
    return taken[0].id if taken else None


def _expired(connection: Connection, services: Services, import_id: str, owner: str) -> bool:
    """Whether the import is too old; then it fails. Rows that it has added stay."""
    created_at: int = connection.execute(_AGE, {"id": import_id}).scalar_one()
    if services.clock.now_ms() < created_at + EXPIRES_MS:
        return False
    hours = EXPIRES_MS // HOUR
    _fail(connection, services, import_id, owner, f"it has not ended within {hours} hours; import the file again")
    return True


def _take_piece(
    connection: Connection,
    services: Services,
    import_id: str,
    owner: str,
    file: ImportedFile,
    done: int,
    end: int,
    by_key_id: str | None,
) -> None:
    by = lock_spending_key(connection, by_key_id)
    row = IMPORTS.mine(connection, import_id, owner)
    if row.processed != done:
        raise LeaseLost(import_id)
    now_ms = services.clock.now_ms()
    if not done:  # a run that was cut off may have listed rows before the country or the column was corrected
        connection.execute(delete(import_errors).where(import_errors.c.import_id == import_id))
    rows, bad = file.numbered(done, end)
    taken = take_rows(
        connection,
        services.ids,
        row.audience_id,
        [cells for _, cells in rows],
        source=file.source,
        now_ms=now_ms,
        by=by,
        numbers=[number for number, _ in rows],
        also_bad=bad,
        phone_column=file.phone_column,
        public_url=services.settings.public_url,
    )
    _keep_errors(connection, services, import_id, file, taken.bad)
    connection.execute(
        update(imports)
        .where(_I.id == import_id)
        .values(
            total_rows=len(file.records),
            processed=end,
            read_as=file.read_as,
            added=_I.added + taken.added,
            invalid=_I.invalid + taken.invalid,
            duplicates=_I.duplicates + taken.duplicates,
            lease_until=_until(connection, services),
        )
    )


def _complete(connection: Connection, services: Services, import_id: str, owner: str) -> None:
    row = IMPORTS.mine(connection, import_id, owner)
    status = "completed_with_errors" if row.invalid or row.duplicates else "completed"
    _end(connection, services, row, status, None)


def _fail(connection: Connection, services: Services, import_id: str, owner: str, reason: str) -> None:
    _end(connection, services, IMPORTS.mine(connection, import_id, owner), "failed", reason)


def _end(connection: Connection, services: Services, row: Row[Any], status: str, reason: str | None) -> None:
    now_ms = services.clock.now_ms()
    connection.execute(
        update(imports)
        .where(_I.id == row.id)
        .values(status=status, status_reason=reason, completed_at=now_ms, csv=None, file=None, **RELEASED)
    )
    others = (
        select(func.count()).where(_I.audience_id == row.audience_id, _I.completed_at.is_(None), _I.id != row.id)
    ).scalar_subquery()
    connection.execute(
        update(audiences)
        .where(audiences.c.id == row.audience_id, audiences.c.valid_count == 0, others == 0)
        .values(status="failed", updated_at=now_ms)
    )
    data = ImportCompleted(
        audience_id=row.audience_id,
        import_id=row.id,
        status=status,
        added=row.added,
        invalid=row.invalid,
        duplicates=row.duplicates,
    )
    outbox.emit(connection, services.ids, row.org_id, AUDIENCE_IMPORT_COMPLETED, data, at_ms=now_ms)
    entry = audit_log.entry_row(
        services.ids, row.org_id, "audience.imported", row.audience_id, by=SERVICE, at_ms=now_ms
    )
    audit_log.add_entries(connection, [entry])
