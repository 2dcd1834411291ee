"""The unit of work of an endpoint queue: records finished attempts and takes the next deliveries, in one transaction.

Deliveries are marked as under way before they are sent, so that a process that takes the queue over knows which may
have arrived without a record.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, Select, Subquery, Text, bindparam, func, select, update

from callwright.service.platform.database.bulk import for_ids, selects_from_updates
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.database.units import brief
from callwright.service.platform.ids import Ids
from callwright.service.tables import delivery_rows
from callwright.service.tables.schema import deliveries, outbox
from callwright.service.tables.schema.packed import EVENT_DATA
from callwright.service.webhooks import endpoint_queue, outcomes
from callwright.service.webhooks.outcomes import Attempt

_D, _O = deliveries.c, outbox.c
_IS_DUE = (
    _D.webhook_id == bindparam("b_queue"),
    endpoint_queue.PENDING,
    _D.next_attempt_at <= bindparam("b_now"),
    _D.attempt_started_at.is_(None),
)
_DUE: Select[*tuple[Any, ...]] = (
    select(_D.id, _D.event_id, _D.cause, _D.attempt_count, _O.type, _O.created_at, _O.org_id, _O.data, _O.simulated)
    .select_from(deliveries)
    .outerjoin(outbox, _O.id == _D.event_id)
    .where(*_IS_DUE)
    .order_by(_D.next_attempt_at)
    .limit(bindparam("b_most"))
)


def _marked() -> Select[*tuple[Any, ...]]:
    """Takes and marks deliveries in one statement, for Postgres, which then reads each row once."""
    due = select(_D.id).where(*_IS_DUE).order_by(_D.next_attempt_at).limit(bindparam("b_most")).cte("due")
    marked = (
        update(deliveries)
        .where(_D.id == due.c.id)
        .values(attempt_started_at=bindparam("b_now"))
        .returning(_D.id, _D.event_id, _D.cause, _D.attempt_count, _D.next_attempt_at)
        .cte("marked")
    )
    own = (marked.c.id, marked.c.event_id, marked.c.cause, marked.c.attempt_count)
    events = (_O.type, _O.created_at, _O.org_id, _O.data, _O.simulated)
    rows = select(*own, *events).select_from(marked).outerjoin(outbox, _O.id == marked.c.event_id)
    return rows.order_by(marked.c.next_attempt_at)


_DUE_MARKED = Prepared(_marked())


def _in_one_row(found: Subquery) -> Select[Any]:
    data = found.c.data
    columns = [func.hex(column) if column is data else column for column in found.c]
    return select(func.json_group_array(func.json_array(*columns, func.typeof(data)), type_=Text).label("found"))


_DUE_AT_ONCE = Prepared(_in_one_row(_DUE.subquery()))
"""For SQLite, which releases and takes the interpreter lock for every row. JSON cannot hold packed texts: the data of
events is in hexadecimal, and a row says at its end whether it is packed.
"""
_MARK = for_ids(
    _D.id, lambda are_these: update(deliveries).where(are_these).values(attempt_started_at=bindparam("b_now"))
)
_UNMARK = for_ids(_D.id, lambda are_these: update(deliveries).where(are_these).values(attempt_started_at=None))
_NO_EVENT = for_ids(
    _D.id,
    lambda are_these: (
        update(deliveries)
        .where(are_these)
        .values(status="cancelled", next_attempt_at=None, attempt_started_at=None, finished_at=bindparam("b_now"))
    ),
)


class Due(NamedTuple):
    """A delivery to be sent, and its event."""

    id: str
    event_id: str
    cause: str
    attempt_count: int
    type: str
    created_at: int
    org_id: str
    data: str
    """As JSON."""
    simulated: bool


_ID, _TYPE, _DATA = (Due._fields.index(name) for name in ("id", "type", "data"))


@dataclass(frozen=True)
class Batch:
    """What one unit of work records and fetches for an endpoint queue."""

    attempts: Sequence[Attempt] = ()
    """Attempts that have ended."""
    unsent: Sequence[str] = ()
    """Deliveries that were taken but will not be sent now."""
    most: int = 0
    """How many deliveries to take at most."""
    was_abandoned: bool = False
    """Whether the previous holder did not release the endpoint queue."""
    renew_until_ms: int | None = None
    """Until when to renew the lease of the endpoint queue; None if it need not be renewed."""
    is_idle: bool = True
    """Whether nothing is under way: then the endpoint queue is released if nothing is taken either."""


@dataclass(frozen=True)
class BatchResult:
    """The result of a batch: the subscription as it is now, and deliveries to send to it, with their events."""

    webhook: Any
    due: Sequence[Due]
    is_open: bool
    """Whether the subscription accepts deliveries. If not, its pending deliveries were ended."""
    released: bool


@brief
def process_batch(
    connection: Connection,
    ids: Ids,
    webhook_id: str,
    owner: str,
    batch: Batch,
    *,
    now_ms: int,
    confirmed_now_ms: int,
    chance: Callable[[], float],
) -> BatchResult:
    """Processes one batch of an endpoint queue. Raises `LeaseLost`, and records nothing, if another process holds it.

    Pending deliveries of a disabled subscription become missed, those of a deleted one cancelled.
    """
    webhook = endpoint_queue.mine(connection, webhook_id, owner)
    if batch.renew_until_ms is not None:
        endpoint_queue.renew(connection, [webhook_id], owner, now_ms, batch.renew_until_ms)
    if batch.was_abandoned:
        outcomes.record_abandoned(connection, webhook, now_ms)
    is_open = webhook.status == "active" and webhook.deleted_at is None
    if batch.attempts:
        disabled = outcomes.record(
            connection, ids, webhook, batch.attempts, now_ms=now_ms, confirmed_now_ms=confirmed_now_ms, chance=chance
        )
        is_open = is_open and not disabled
    if batch.unsent:
        _UNMARK.run(connection, batch.unsent)
    if not is_open:
        status = "cancelled" if webhook.deleted_at is not None else "missed"
        delivery_rows.end_pending(connection, webhook_id, status, now_ms)
    due = _due(connection, webhook_id, batch.most, now_ms) if is_open and batch.most > 0 else ()
    released = batch.is_idle and not due
    if released and endpoint_queue.release(connection, webhook_id, owner, now_ms) and is_open and batch.most > 0:
        # Something is due but was not taken: it is marked as under way, and no process sends it.
        outcomes.record_abandoned(connection, webhook, now_ms)
    return BatchResult(webhook, due, is_open, released)


def _due(connection: Connection, webhook_id: str, most: int, now_ms: int) -> Sequence[Due]:
    given = {"b_queue": webhook_id, "b_now": now_ms, "b_most": most}
    is_marked = selects_from_updates(connection)
    found: list[Any]
    if is_marked:
        found = _DUE_MARKED.all(connection, given)
    else:
        found = [_row(one) for one in orjson.loads(_DUE_AT_ONCE.first(connection, given).found)]
    due = [Due._make(row) for row in found if row[_TYPE] is not None]
    if len(due) < len(found):  # events are kept until they are sent; if one is missing all the same, its delivery ends
        lost = [row[_ID] for row in found if row[_TYPE] is None]
        _NO_EVENT.run(connection, lost, {"b_now": now_ms})
    if due and not is_marked:
        _MARK.run(connection, [row.id for row in due], {"b_now": now_ms})
    return due


def _row(at_once: list[Any]) -> list[Any]:
    """A row of `_DUE_AT_ONCE` with the data of its event as text."""
    *row, stored_as = at_once
    data = bytes.fromhex(row[_DATA])
    row[_DATA] = EVENT_DATA.unpacked(data) if stored_as == "blob" else data.decode()
    return row
