"""Deletes entries of the log of routing webhooks that are older than those of event delivery may be."""

from typing import Any

from sqlalchemy import Connection, Select, delete, select

from callwright.service.services import Services
from callwright.service.tables.schema import routing_requests
from callwright.service.webhooks.retention import KEPT_MS, MOST

_R = routing_requests.c


async def run(services: Services, confirmed_now_ms: int) -> None:
    """One pass, so many entries in each unit of work. What it does not reach, the next one deletes."""
    before_ms = confirmed_now_ms - KEPT_MS
    while await services.database.read(_has_old, before_ms):
        if await services.database.write(_forget, before_ms) < MOST:
            return


def _old(before_ms: int) -> Select[Any]:
    return select(_R.id).where(_R.created_at < before_ms).order_by(_R.created_at)


def _has_old(connection: Connection, before_ms: int) -> bool:
    return connection.execute(_old(before_ms).limit(1)).first() is not None


def _forget(connection: Connection, before_ms: int) -> int:
    """Deletes the oldest entries; returns how many."""
    found = _old(before_ms).limit(MOST).with_for_update(skip_locked=True)
    ids = list(connection.execute(found).scalars())
    if ids:
        connection.execute(delete(routing_requests).where(_R.id.in_(ids)))
    return len(ids)
