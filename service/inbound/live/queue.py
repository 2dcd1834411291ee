"""Callers of real lines who wait: whose turn it is, in the order of their coming."""

import orjson
from sqlalchemy import Connection, select, update

from callwright.service.dialling.leases import mine
from callwright.service.inbound.live.live_calls import on_lines
from callwright.service.platform.clock.clock import SECOND
from callwright.service.tables.schema import calls, legs

_C, _L = calls.c, legs.c


def move_up(connection: Connection, deployment_id: str, owner: str, now_ms: int) -> None:
    """Gives the lines that are free to those who wait longest, and the others their new places.

    Raises:
        LeaseLost: another process drives the deployment.
    """
    row = mine(connection, deployment_id, owner)
    there = on_lines(connection, deployment_id)
    free = max(0, row.max_concurrency - sum(not one.waits for one in there))
    for index, one in enumerate(one for one in there if one.waits):
        place = max(0, index + 1 - free)
        if place != one.queue_place:
            connection.execute(update(legs).where(_L.call_id == one.call_id).values(queue_place=place))
        if not place:
            _note_wait(connection, one.call_id, now_ms)


def _note_wait(connection: Connection, call_id: str, now_ms: int) -> None:
    found = connection.execute(select(_C.inbound, _C.created_at).where(_C.id == call_id)).one()
    kept = orjson.loads(found.inbound) | {"waited_s": max(0, now_ms - found.created_at) / SECOND}
    connection.execute(update(calls).where(_C.id == call_id).values(inbound=orjson.dumps(kept).decode()))
