"""Events that a change of state leaves in its own transaction, to be delivered to webhooks."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, insert

from callwright.contract.declaration.model import Resource
from callwright.contract.events import EventType
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.ids import Ids
from callwright.service.tables.schema import outbox

_ADD_EVENT = Prepared(insert(outbox))


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
    _ADD_EVENT.run_many(connection, rows)


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
    add_events(connection, [event_row(ids, org_id, type_, data, at_ms=at_ms, simulated=simulated)])
