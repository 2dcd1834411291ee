"""The audit log: adds entries in the transaction of each change, reads them, and deletes old ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Connection, Row, Select, bindparam, delete, exists, insert, select

from callwright.service.platform.clock.clock import DAY
from callwright.service.platform.database.listing import without_index
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.ids import Ids
from callwright.service.platform.json_text import json_text
from callwright.service.tables.schema import api_keys, audit_log, organizations

KEPT_MS = 365 * DAY
"""How long an entry is kept."""
MOST_FORGOTTEN = 1_000
"""The most entries that one unit of work deletes."""
_MOST_ORGANIZATIONS = 10
_A = audit_log.c
_ADD = Prepared(insert(audit_log))
_OVERDUE = (
    select(organizations.c.id)
    .where(exists().where(_A.org_id == organizations.c.id, _A.at < bindparam("before")))
    .limit(_MOST_ORGANIZATIONS)
)
_OLDEST = (
    select(_A.id)
    .where(_A.org_id == bindparam("org"), _A.at < bindparam("before"))
    .order_by(_A.at, _A.id)
    .limit(bindparam("most"))
)
_FORGET = delete(audit_log).where(_A.id.in_(_OLDEST))


class Actor(Protocol):
    """Who did something, as an audit entry names them."""

    @property
    def actor(self) -> str:
        """The id of a key, or the name of a part of the system."""
        ...

    @property
    def user_id(self) -> str | None:
        """The person for whom a personal key acts; None for all others."""
        ...


def entry_row(
    ids: Ids,
    org_id: str,
    action: str,
    subject: str,
    *,
    by: Actor,
    at_ms: int,
    request_id: str | None = None,
    changes: Mapping[str, Any] | None = None,
    tool: str | None = None,
) -> dict[str, Any]:
    """An audit row, to be added with `add_entries`. `changes` never holds a secret, a number or spoken text.

    `tool` names the tool of the tool server through which the action was requested.
    """
    return {
        "id": ids.new("adt"),
        "org_id": org_id,
        "at": at_ms,
        "actor": by.actor,
        "user_id": by.user_id,
        "action": action,
        "subject": subject,
        "request_id": request_id,
        "changes": json_text(changes or {}),
        "tool": tool,
    }


def add_entries(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    if len(rows) == 1:
        _ADD.run(connection, rows[0])
    else:
        _ADD.run_many(connection, rows)


@dataclass(frozen=True)
class EntryFilter:
    """Which entries are wanted: from `since_ms` on and before `until_ms`, of this actor, action and subject."""

    since_ms: int | None = None
    until_ms: int | None = None
    actor: str | None = None
    action: str | None = None
    subject: str | None = None


@dataclass(frozen=True)
class Position:
    """An entry's place in the log."""

    at_ms: int
    id: str


def entries(
    connection: Connection, org_id: str, wanted: EntryFilter, *, after: Position | None = None, limit: int = 200
) -> list[Row[Any]]:
    """At most `limit` entries of an organization, newest first; with `after` those that follow that entry.

    The next call takes the last entry's position as `after`; entries that are added meanwhile do not shift the pages.
    """
    return list(connection.execute(statement(org_id, wanted, after, limit)).all())


def statement(org_id: str, wanted: EntryFilter, after: Position | None, limit: int) -> Select[Any]:
    """The statement of `entries`."""
    own = _A.org_id if wanted.subject is None else without_index(_A.org_id)  # else SQLite may read all of its entries
    found = select(audit_log).where(own == org_id)
    if wanted.since_ms is not None:
        found = found.where(_A.at >= wanted.since_ms)
    if wanted.until_ms is not None:
        found = found.where(_A.at < wanted.until_ms)
    for column, value in ((_A.actor, wanted.actor), (_A.action, wanted.action), (_A.subject, wanted.subject)):
        if value is not None:
            found = found.where(column == value)
    if after is not None:
        # The first condition follows from the second, and lets the database use an index.
        found = found.where(_A.at <= after.at_ms, (_A.at < after.at_ms) | (_A.id < after.id))
    return found.order_by(_A.at.desc(), _A.id.desc()).limit(limit)


def labels_of(connection: Connection, org_id: str) -> dict[str, str]:
    """The labels of an organization's keys by their id, revoked ones too."""
    statement = select(api_keys.c.id, api_keys.c.label).where(api_keys.c.org_id == org_id)
    return {row.id: row.label for row in connection.execute(statement)}


def overdue(connection: Connection, now_ms: int) -> list[str]:
    """Some organizations that have entries older than `KEPT_MS`, at most `_MOST_ORGANIZATIONS`."""
    return list(connection.execute(_OVERDUE, {"before": now_ms - KEPT_MS}).scalars())


def forget(connection: Connection, org_id: str, now_ms: int, *, most: int = MOST_FORGOTTEN) -> int:
    """Deletes at most `most` of the entries that are older than `KEPT_MS`, the oldest first; returns how many."""
    return connection.execute(_FORGET, {"org": org_id, "before": now_ms - KEPT_MS, "most": most}).rowcount
