"""The two records that every change of state leaves in its own transaction: an audit entry and an outbox event."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import Connection, insert

from callwright.contract.declaration.model import Resource
from callwright.contract.events import EventType
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.ids import Ids
from callwright.service.tables.schema import audit_log, outbox

_ADD_EVENT = insert(outbox)
_ADD_ENTRY = insert(audit_log)
_ADD_ONE_ENTRY = Prepared(_ADD_ENTRY)

PLATFORM = "platform"
"""The actor of what nobody asked for by a request: the dialler and the sweeps."""


def json_text(value: Any) -> str:
    """Compact JSON."""
    return orjson.dumps(value).decode()


def event_row(
    ids: Ids, org_id: str, type_: EventType, data: Resource, *, at_ms: int, simulated: bool = False
) -> dict[str, Any]:
    """An outbox row, to be added with `add_events`."""
    return {
        "id": ids.new("evt"),
        "org_id": org_id,
        "type": type_.name,
        "created_at": at_ms,
        "data": data.model_dump_json(),
        "simulated": simulated,
        "subject_id": type_.subject_of(data),
    }


def add_events(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Puts events into the outbox."""
    if rows:
        connection.execute(_ADD_EVENT, list(rows))


def emit(
    connection: Connection,
    ids: Ids,
    org_id: str,
    type_: EventType,
    data: Resource,
    *,
    at_ms: int,
    simulated: bool = False,
) -> None:
    """Puts one event into the outbox."""
    add_events(connection, [event_row(ids, org_id, type_, data, at_ms=at_ms, simulated=simulated)])


def entry_row(
    ids: Ids,
    org_id: str,
    action: str,
    subject: str,
    *,
    at_ms: int,
    actor: str = PLATFORM,
    request_id: str | None = None,
    changes: Mapping[str, Any] | None = None,
    tool: str | None = None,
) -> dict[str, Any]:
    """An audit row, to be added with `add_entries`. `changes` never holds a secret, a number or spoken text.

    `tool` names the tool of the tool server through which it was asked for.
    """
    return {
        "id": ids.new("adt"),
        "org_id": org_id,
        "at": at_ms,
        "actor": actor,
        "action": action,
        "subject": subject,
        "request_id": request_id,
        "changes": json_text(changes or {}),
        "tool": tool,
    }


def add_entries(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Adds audit entries."""
    if len(rows) == 1:
        _ADD_ONE_ENTRY.run(connection, rows[0])
    elif rows:
        connection.execute(_ADD_ENTRY, list(rows))
