"""Charges of which a carrier has not spoken yet: which are due to be asked for, and when again."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from callwright.service.platform.clock.clock import DAY, HOUR, MINUTE, SECOND
from callwright.service.rules.cost_items import TRANSFER
from callwright.service.tables.schema import awaited_charges

FIRST_AFTER_MS = 30 * SECOND
"""How long after its end a carrier is first asked what a call cost."""
LONGEST_PAUSE_MS = 6 * HOUR
GIVEN_UP_AFTER_MS = 5 * DAY
"""How long after the end of a call nobody waits any more for what its carrier says."""
MOST = 50
"""Charges that one process asks for at a time."""
_C = awaited_charges.c
_DUE = (
    select(awaited_charges)
    .where(_C.carrier.in_(bindparam("carriers", expanding=True)), _C.next_at <= bindparam("now"))
    .order_by(_C.next_at)
    .limit(MOST)
)
_POSTPONE = (
    update(awaited_charges)
    .where(_C.call_id == bindparam("b_call"), _C.charge_id == bindparam("b_charge"))
    .values(next_at=bindparam("b_next"), asked=bindparam("b_asked"))
)


def add(connection: Connection, rows: Sequence[Mapping[str, Any]], now_ms: int) -> None:
    """Adds charges to be asked for."""
    if rows:
        first = {"asked": 0, "next_at": now_ms + FIRST_AFTER_MS}
        connection.execute(insert(awaited_charges), [{**row, **first} for row in rows])


def are_due(connection: Connection, carriers: Collection[str], now_ms: int) -> bool:
    """Whether a carrier is to be asked now."""
    return connection.execute(_DUE.limit(1), {"carriers": list(carriers), "now": now_ms}).first() is not None


def take_due(connection: Connection, carriers: Collection[str], now_ms: int) -> Sequence[Row[Any]]:
    """The charges to ask these carriers for now. They are due again later, each time after a longer pause, so that no
    other process asks at the same time, and none is lost if this one ends."""
    locked = _DUE.with_for_update(skip_locked=True)
    due = connection.execute(locked, {"carriers": list(carriers), "now": now_ms}).all()
    if due:
        later = [
            {
                "b_call": row.call_id,
                "b_charge": row.charge_id,
                "b_asked": row.asked + 1,
                "b_next": now_ms + pause_ms(row.asked),
            }
            for row in due
        ]
        connection.execute(_POSTPONE, later)
    return due


def pause_ms(asked: int) -> int:
    """How long after a question the next one follows, if the carrier was asked so often before: twice as long each
    time, from a minute to six hours."""
    return min(MINUTE << min(asked, 20), LONGEST_PAUSE_MS)


def remove(connection: Connection, call_id: str, transfer: str | None = None) -> bool:
    """Removes what was awaited of a call; False if another transaction has done it.

    `transfer` is the carrier's id of the call to a person that is meant; None: the call itself.
    """
    is_meant = _C.item != TRANSFER if transfer is None else (_C.item == TRANSFER) & (_C.charge_id == transfer)
    return connection.execute(delete(awaited_charges).where(_C.call_id == call_id, is_meant)).rowcount == 1
