"""The end of an import: its row, its audience, the event and the entry, in one transaction.

Whoever has the address of its upload, or looks at the dashboard, ends an import early; nothing comes of a file that is
not uploaded in time.
"""

from typing import Any

from anyio import to_thread
from sqlalchemy import ColumnElement, Connection, Row, func, select, update

from callwright.contract.events import AUDIENCE_IMPORT_COMPLETED, ImportCompleted
from callwright.service.accounts.principals import SERVICE
from callwright.service.platform.lease import RELEASED
from callwright.service.platform.uploads import Uploads
from callwright.service.services import Services
from callwright.service.tables import audit_log, import_uploads, outbox
from callwright.service.tables.schema import audiences, imports

_I = imports.c
CANCELLED = "cancelled: its upload was ended before the file had come, and nothing of it was taken"
CANCELLED_LATER = "cancelled: it was ended before all rows were read; rows that had been added stay"


def end_import(
    connection: Connection,
    services: Services,
    row: Row[Any],
    status: str,
    reason: str | None,
    by: audit_log.Actor = SERVICE,
) -> None:
    """Ends an import whose row the caller has locked. An audience that got nobody from its imports has failed."""
    now_ms = services.clock.now_ms()
    over = {**dict.fromkeys(("upload_expires_at", "source_url", "source_tag")), **RELEASED}
    if row.status == "uploading":
        over["upload_token_hash"] = None
    connection.execute(
        update(imports)
        .where(_I.id == row.id)
        .values(status=status, status_reason=reason, completed_at=now_ms, csv=None, file=None, **over)
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
    entry = audit_log.entry_row(services.ids, row.org_id, "audience.imported", row.audience_id, by=by, at_ms=now_ms)
    audit_log.add_entries(connection, [entry])


async def cancel_import(services: Services, which: ColumnElement[bool], by: audit_log.Actor = SERVICE) -> bool:
    """Ends an import early, and removes its file. False if it has ended. Rows that it has added stay.

    The process that reads the file notices it with its next piece, and stops. `which` is of `import_uploads.by_token`
    or `by_id`, `by` who ends it.
    """
    ended = await services.database.write(_cancel, services, which, by)
    if ended is None:
        return False
    await to_thread.run_sync(Uploads(services.settings).remove, ended)
    services.wake()
    return True


def _cancel(connection: Connection, services: Services, which: ColumnElement[bool], by: audit_log.Actor) -> str | None:
    row = import_uploads.locked(connection, which, services.clock.now_ms())
    if row is None:
        return None
    reason = CANCELLED if row.status == "uploading" else CANCELLED_LATER
    end_import(connection, services, row, "failed", reason, by)
    return str(row.id)


async def end_silent_uploads(services: Services) -> None:
    """Ends the imports of whose file nothing more came in time, or whose key was revoked, and removes what had come."""
    while await services.database.read(import_uploads.is_overdue, services.clock.now_ms()):
        ended = await services.database.write(_end_overdue, services)
        if ended is None:  # another process ends it
            return
        await to_thread.run_sync(Uploads(services.settings).remove, ended)
        services.wake()


def _end_overdue(connection: Connection, services: Services) -> str | None:
    now_ms = services.clock.now_ms()
    row = import_uploads.lock_overdue(connection, now_ms)
    if row is None:
        return None
    end_import(connection, services, row, "failed", import_uploads.why_ended(row, now_ms))
    return str(row.id)
