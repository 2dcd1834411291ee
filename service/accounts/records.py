"""The lock and the audit entries of changes to an organization's account."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from callwright.service.accounts.principals import COMMAND_LINE
from callwright.service.platform.ids import Ids
from callwright.service.tables import audit_log
from callwright.service.tables.schema import organizations


def lock_organization(connection: Connection, org_id: str) -> None:
    """Keeps others from changing the organization's keys, members and plan before this transaction ends.

    SQLite has one writer at a time anyway. On Postgres this lock does not block inserts of rows that refer to the
    organization, so the service goes on working.
    """
    row = select(organizations.c.id).where(organizations.c.id == org_id)
    connection.execute(row.with_for_update(key_share=True)).one()


def add_audit_entry(
    connection: Connection,
    ids: Ids,
    org_id: str,
    action: str,
    subject: str,
    now_ms: int,
    changes: Mapping[str, Any] | None = None,
    *,
    by: audit_log.Actor = COMMAND_LINE,
) -> None:
    """Adds an audit entry of a command, or of the person named `by`.

    `changes` has `before` and `after` by field, see `before_and_after`.
    """
    entry = audit_log.entry_row(ids, org_id, action, subject, by=by, at_ms=now_ms, changes=changes)
    audit_log.add_entries(connection, [entry])


def before_and_after(before: Any, after: Any) -> dict[str, Any]:
    """One field in the `changes` of an audit entry."""
    return {"before": before, "after": after}
