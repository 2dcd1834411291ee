"""What is kept of calls that came in while they last: the request by which another process goes on with one."""

from collections.abc import Sequence
from typing import Any, cast

import orjson
from sqlalchemy import Connection, bindparam, select, update

from callwright.service.platform.clock.clock import SECOND
from callwright.service.tables.counters import REACHED
from callwright.service.tables.schema import calls

REQUEST = "request"
"""The member of the column `inbound` that a call has until it ends."""
_C = calls.c
_KEPT = select(_C.id, _C.inbound, _C.outcome, _C.created_at, _C.ended_at).where(
    _C.id.in_(bindparam("ids", expanding=True))
)
_CHANGE = update(calls).where(_C.id == bindparam("b_id"))


def forget_requests(connection: Connection, call_ids: Sequence[str]) -> None:
    """Removes the requests of calls that have ended, and notes how long those have waited who never got a line."""
    rows: list[dict[str, Any]] = []
    for row in connection.execute(_KEPT, {"ids": list(call_ids)}):
        kept = cast("dict[str, Any]", orjson.loads(row.inbound))
        request = cast("dict[str, Any] | None", kept.pop(REQUEST, None))
        if request is None:
            continue
        lasted_s = max(0, row.ended_at - row.created_at) / SECOND
        answering = cast("dict[str, Any]", request.get("answering") or {})
        if answering.get("wait") is not None and row.outcome not in REACHED:
            kept["waited_s"] = min(kept["waited_s"] or lasted_s, lasted_s)  # the simulated network plans it beforehand
        rows.append({"b_id": row.id, "inbound": orjson.dumps(kept).decode()})
    if rows:
        connection.execute(_CHANGE, rows)
