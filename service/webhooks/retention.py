"""Deletes events, deliveries and attempts that are older than `KEPT_MS`.

It deletes some rows at a time and stores no progress: if a pass ends early, the next one continues. An event with a
pending delivery is kept until that delivery has ended.
"""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import BindParameter, Connection, Select, bindparam, delete, exists, select

from callwright.service.platform.clock.clock import DAY
from callwright.service.services import Services
from callwright.service.tables.schema import deliveries, delivery_attempts, organizations, outbox, webhooks
from callwright.service.webhooks.endpoint_queue import PENDING

KEPT_MS = 30 * DAY
"""How long events and their deliveries are kept."""
MOST = 500
"""The most rows that one unit of work deletes, besides the attempts of the deliveries."""
BEGIN_S = 3.0
"""How long after the start the first pass begins."""
EVERY_S = 60.0
SOUGHT = 20
"""The most subscriptions or organizations that one statement finds."""
_Forget = Callable[[Connection, str, int], int]
_D, _A, _O = deliveries.c, delivery_attempts.c, outbox.c
_IDS: BindParameter[Any] = bindparam("b_ids", expanding=True)
_BEFORE: BindParameter[Any] = bindparam("b_before")
_OLD = (_D.created_at < _BEFORE, _D.status != "pending")
_WITH_OLD_DELIVERIES = (
    select(webhooks.c.id)
    .where(webhooks.c.id > bindparam("b_after"), exists().where(_D.webhook_id == webhooks.c.id, *_OLD))
    .order_by(webhooks.c.id)
    .limit(bindparam("b_most"))
)
_OLD_DELIVERIES = (
    select(_D.id)
    .where(_D.webhook_id == bindparam("b_owner"), *_OLD)
    .order_by(_D.created_at)
    .limit(bindparam("b_most"))
    .with_for_update(skip_locked=True)
)
_OVER = (_O.created_at < _BEFORE, _O.fanned_out_at.is_not(None), ~exists().where(_D.event_id == _O.id, PENDING))
_WITH_OLD_EVENTS = (
    select(organizations.c.id)
    .where(organizations.c.id > bindparam("b_after"), exists().where(_O.org_id == organizations.c.id, *_OVER))
    .order_by(organizations.c.id)
    .limit(bindparam("b_most"))
)
_OLD_EVENTS = (
    select(_O.id)
    .where(_O.org_id == bindparam("b_owner"), *_OVER)
    .order_by(_O.created_at)
    .limit(bindparam("b_most"))
    .with_for_update(skip_locked=True)
)


async def sweep(services: Services) -> None:
    """One pass: deletes everything that is too old by the confirmed time."""
    before_ms = services.clock.confirmed_now_ms() - KEPT_MS
    await _go_through(services, _WITH_OLD_DELIVERIES, _forget_deliveries, before_ms)
    await _go_through(services, _WITH_OLD_EVENTS, _forget_events, before_ms)


async def _go_through(services: Services, owners: Select[Any], forget: _Forget, before_ms: int) -> None:
    after = ""
    while found := await services.database.read(_some, owners, after, before_ms):
        for one in found:
            while await services.database.write(forget, one, before_ms) == MOST:
                pass
        after = found[-1]


def _some(connection: Connection, owners: Select[Any], after: str, before_ms: int) -> list[str]:
    """Some subscriptions or organizations that have older rows, in the order of their ids after `after`."""
    return list(connection.execute(owners, {"b_after": after, "b_before": before_ms, "b_most": SOUGHT}).scalars())


def _forget_deliveries(connection: Connection, webhook_id: str, before_ms: int) -> int:
    """Deletes the subscription's oldest deliveries before `before_ms`, with their attempts; returns how many."""
    ids = _oldest(connection, _OLD_DELIVERIES, webhook_id, before_ms)
    if ids:
        connection.execute(delete(delivery_attempts).where(_A.delivery_id.in_(_IDS)), {"b_ids": ids})
        connection.execute(delete(deliveries).where(_D.id.in_(_IDS)), {"b_ids": ids})
    return len(ids)


def _forget_events(connection: Connection, org_id: str, before_ms: int) -> int:
    """Deletes the organization's oldest events before `before_ms`; returns how many."""
    ids = _oldest(connection, _OLD_EVENTS, org_id, before_ms)
    if ids:
        connection.execute(delete(outbox).where(_O.id.in_(_IDS)), {"b_ids": ids})
    return len(ids)


def _oldest(connection: Connection, rows: Select[Any], owner: str, before_ms: int) -> Sequence[str]:
    return connection.execute(rows, {"b_owner": owner, "b_before": before_ms, "b_most": MOST}).scalars().all()
