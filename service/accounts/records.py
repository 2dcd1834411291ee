"""What all acts on an organization share: they follow one another, and each leaves an audit entry."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from callwright.service.accounts.principals import COMMAND_LINE
from callwright.service.platform.ids import Ids
from callwright.service.tables import audit_log
from callwright.service.tables.schema import organizations


def hold(connection: Connection, org_id: str) -> None:
    """Lets no other act on the organization's keys, members and plan begin before this transaction ends.

    On SQLite writes follow one another anyway. On Postgres the lock is of the kind that rows pointing at the
    organization do not wait for, so that the service goes on.
    """
    row = select(organizations.c.id).where(organizations.c.id == org_id)
    connection.execute(row.with_for_update(key_share=True)).one()


def note(
    connection: Connection,
    ids: Ids,
    org_id: str,
    action: str,
    subject: str,
    now_ms: int,
    changes: Mapping[str, Any] | None = None,
) -> None:
    """Adds an audit entry. `changes` holds `before` and `after` by field."""
    entry = audit_log.entry_row(ids, org_id, action, subject, by=COMMAND_LINE, at_ms=now_ms, changes=changes)
    audit_log.add_entries(connection, [entry])


def change(before: Any, after: Any) -> dict[str, Any]:
    """A field's entry in the `changes` of an audit entry."""
    return {"before": before, "after": after}
