"""Transfers of calls to people, as they are stored and told: once, in the moment when the person has taken over."""

from collections.abc import Collection
from typing import Any

import orjson
from sqlalchemy import Connection, Row, select, update

from callwright.contract.events import CALL_TRANSFERRED, CallTransferred
from callwright.contract.transfers import Transfer
from callwright.service.platform.clock.clock import SECOND, moment_or_none
from callwright.service.platform.ids import Ids
from callwright.service.platform.json_text import json_text
from callwright.service.tables import outbox
from callwright.service.tables.schema import calls
from callwright.service.telephony.engine import CallProgress, CallRequest
from callwright.service.telephony.transfers import CallTransfer

_C = calls.c


def columns_of(transfer: CallTransfer | None, answered_ms: int | None) -> dict[str, Any]:
    """The columns of a call with this transfer. `answered_ms` is the moment of its answer."""
    if transfer is None or answered_ms is None:
        return {"transfer": None, "transferred_at": None}
    at_ms = answered_ms + round(transfer.at_s * SECOND)
    bridged_ms = at_ms if transfer.is_bridged else None
    stored = {
        "type": transfer.kind,
        "to": transfer.to,
        "name": transfer.name or None,
        "status": transfer.status,
        "cause": transfer.cause,
        "started_at": answered_ms + round(transfer.started_s * SECOND),
        "bridged_at": bridged_ms,
    }
    return {"transfer": json_text(stored), "transferred_at": bridged_ms}


def shown(stored: str | None) -> Transfer | None:
    """The transfer of a call as callers see it, from its column."""
    if stored is None:
        return None
    given: dict[str, Any] = orjson.loads(stored)
    moments = {name: moment_or_none(given[name]) for name in ("started_at", "bridged_at")}
    return Transfer.model_validate({**given, **moments})


def event(ids: Ids, row: Row[Any], request: CallRequest, columns: dict[str, Any]) -> dict[str, Any]:
    """The outbox row of call.transferred. `row` is the deployment's."""
    transfer = shown(columns["transfer"])
    assert transfer is not None
    data = CallTransferred(
        call_id=request.call_id,
        deployment_id=row.id,
        agent_id=row.agent_id,
        transfer=transfer,
        simulated=row.simulated,
    )
    return outbox.event_row(
        ids, row.org_id, CALL_TRANSFERRED, data, at_ms=columns["transferred_at"], simulated=row.simulated
    )


def told(connection: Connection, call_ids: Collection[str]) -> set[str]:
    """Those of the calls whose event call.transferred is written already."""
    if not call_ids:
        return set()
    found = select(_C.id).where(_C.id.in_(call_ids), _C.transferred_at.is_not(None))
    return set(connection.execute(found).scalars())


def write_progress(
    connection: Connection, ids: Ids, row: Row[Any], request: CallRequest, progress: CallProgress
) -> None:
    """Writes what has come of a transfer of a call under way. A person who has taken over is told once."""
    transfer = progress.transfer
    assert transfer is not None
    answered_ms = connection.execute(select(_C.answered_at).where(_C.id == request.call_id)).scalar_one()
    columns = columns_of(transfer, answered_ms)
    changed = connection.execute(
        update(calls)
        .where(_C.id == request.call_id, _C.transferred_at.is_(None), _C.ended_at.is_(None))
        .values(columns)
    ).rowcount
    if changed and transfer.is_bridged:
        outbox.add_events(connection, [event(ids, row, request, columns)])
