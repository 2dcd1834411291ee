"""Makes deliveries of events: one for each subscription of the organization that wants the event.

A subscription gets events from its creation on. A transaction makes the deliveries of some events and marks the
events; a unique index allows only one delivery for each event and subscription, also after a crash. On Postgres several
processes take different events at the same time.
"""

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, literal_column, select, update

from callwright.contract.events import EVERY, WEBHOOK_DISABLED, WEBHOOK_TEST
from callwright.service.platform.database.bulk import for_ids
from callwright.service.platform.database.units import brief
from callwright.service.platform.ids import Ids, is_older
from callwright.service.tables import delivery_rows
from callwright.service.tables.schema import outbox, webhooks

MOST_EVENTS = 250
"""The most events that one transaction fans out."""
MOST_DELIVERIES = 500
"""Deliveries after which a transaction takes no further event."""
_O, _W = outbox.c, webhooks.c
_NEW: ColumnElement[bool] = literal_column("outbox.fanned_out_at IS NULL")
"""A literal, so that both engines use the partial index."""
_ANY = select(_O.id).where(_NEW).limit(1)
_TAKE = (
    select(_O.id, _O.org_id, _O.type, _O.subject_id)
    .where(_NEW)
    .order_by(_O.id)
    .limit(MOST_EVENTS)
    .with_for_update(skip_locked=True)
)
_WEBHOOKS = (
    select(_W.id, _W.org_id, _W.events, _W.status, _W.created_at)
    .where(_W.org_id.in_(bindparam("b_orgs", expanding=True)), _W.deleted_at.is_(None))
    .order_by(_W.id)
)
_MARK = for_ids(_O.id, lambda are_these: update(outbox).where(are_these).values(fanned_out_at=bindparam("b_now")))


@dataclass(frozen=True)
class _Wants:
    webhook_id: str
    types: frozenset[str]
    is_active: bool
    is_from_future: bool
    """Made while the clock was ahead, if only by a second, so that events of the present would seem older."""

    def wants(self, event: Any) -> bool:
        if event.type == WEBHOOK_DISABLED.name and event.subject_id == self.webhook_id:
            return False
        if not self.is_from_future and is_older(event.id, self.webhook_id):
            return False
        return event.type in self.types or EVERY in self.types


@brief
def is_waiting(connection: Connection) -> bool:
    """Whether there are events that were not fanned out."""
    return connection.execute(_ANY).scalar() is not None


@brief
def fan_out(connection: Connection, ids: Ids, now_ms: int) -> tuple[int, int]:
    """Makes deliveries of some waiting events, the oldest first. Returns the number of events and of deliveries."""
    events = connection.execute(_TAKE).all()
    if not events:
        return 0, 0
    wanting: defaultdict[str, list[_Wants]] = defaultdict(list)
    for row in connection.execute(_WEBHOOKS, {"b_orgs": sorted({event.org_id for event in events})}):
        wanting[row.org_id].append(
            _Wants(row.id, frozenset(json.loads(row.events)), row.status == "active", row.created_at > now_ms)
        )
    made: list[dict[str, Any]] = []
    done: list[str] = []
    for event in events:
        if len(made) >= MOST_DELIVERIES:
            break
        done.append(event.id)
        if event.type == WEBHOOK_TEST.name:  # it is for one subscription, which has its delivery
            continue
        made += [
            delivery_rows.delivery_row(
                ids,
                org_id=event.org_id,
                webhook_id=one.webhook_id,
                event_id=event.id,
                event_type=event.type,
                cause="event",
                now_ms=now_ms,
                missed=not one.is_active,
            )
            for one in wanting[event.org_id]
            if one.wants(event)
        ]
    delivery_rows.queue(connection, made, now_ms)
    _MARK.run(connection, done, {"b_now": now_ms})
    return len(done), len(made)
