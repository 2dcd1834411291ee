"""What is kept of calls that came in while they last: the request by which another process goes on with one."""

from collections.abc import Sequence
from typing import Any, cast

import orjson
from sqlalchemy import Connection, bindparam, select, update

from callwright.service.tables.schema import calls

REQUEST = "request"
"""The member of the column `inbound` that a call has until it ends."""
_KEPT = select(calls.c.id, calls.c.inbound).where(calls.c.id.in_(bindparam("ids", expanding=True)))
_CHANGE = update(calls).where(calls.c.id == bindparam("b_id"))


def forget_requests(connection: Connection, call_ids: Sequence[str]) -> None:
    """Removes the requests of calls that have ended."""
    rows: list[dict[str, Any]] = []
    for call_id, inbound in connection.execute(_KEPT, {"ids": list(call_ids)}):
        kept = cast("dict[str, Any]", orjson.loads(inbound))
        if kept.pop(REQUEST, None) is not None:
            rows.append({"b_id": call_id, "inbound": orjson.dumps(kept).decode()})
    if rows:
        connection.execute(_CHANGE, rows)
