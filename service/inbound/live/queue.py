"""Callers on real lines who wait: whose turn it is, in the order of their coming."""

from typing import Any

import orjson
from sqlalchemy import Connection, Row, select, update

from callwright.service.dialling.leases import mine
from callwright.service.dialling.queue import FIND
from callwright.service.inbound.lines_now import free_lines, on_lines
from callwright.service.platform.clock.clock import SECOND
from callwright.service.tables.ledger import wallet_of
from callwright.service.tables.schema import calls, legs

_C, _L = calls.c, legs.c


def is_due(connection: Connection, deployment_id: str, now_ms: int) -> bool:
    """Whether somebody who waits is to have a line, or another place."""
    return bool(_moves(connection, connection.execute(FIND, {"id": deployment_id}).one(), now_ms))


def move_up(connection: Connection, deployment_id: str, owner: str, now_ms: int) -> None:
    """Gives the lines that are free to those who wait longest, and the others their new places.

    Raises:
        LeaseLost: another process drives the deployment.
    """
    row = mine(connection, deployment_id, owner)
    wallet_of(connection, row.org_id, lock=True)  # so that no campaign takes the line meanwhile
    for call_id, place in _moves(connection, row, now_ms):
        connection.execute(update(legs).where(_L.call_id == call_id).values(queue_place=place))
        if not place:
            _note_wait(connection, call_id, now_ms)


def _moves(connection: Connection, row: Row[Any], now_ms: int) -> list[tuple[str, int]]:
    """Who has another place than before, and which; 0 is a line."""
    free = free_lines(connection, row, now_ms)
    waiting = (one for one in on_lines(connection, row.id) if one.waits)
    places = ((one, max(0, index + 1 - free)) for index, one in enumerate(waiting))
    return [(one.call_id, place) for one, place in places if place != one.queue_place]


def _note_wait(connection: Connection, call_id: str, now_ms: int) -> None:
    found = connection.execute(select(_C.inbound, _C.created_at).where(_C.id == call_id)).one()
    kept = orjson.loads(found.inbound) | {"waited_s": max(0, now_ms - found.created_at) / SECOND}
    connection.execute(update(calls).where(_C.id == call_id).values(inbound=orjson.dumps(kept).decode()))
