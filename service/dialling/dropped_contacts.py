"""Contacts that are not called any more because their campaign was cancelled or has reached its end.

Nobody of them is dialled from the moment of that on, and the counters say so at once. Many rows follow in pieces, so
that others need not wait for one transaction; `contact_changes` of the deployment says so until they are done, and
`contacts_changed` from which position on they are left. In the index of those who wait Postgres would pass all who no
longer do, more with each piece.
"""

import json
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, bindparam, select, update

from callwright.service.dialling.queue import WAITING
from callwright.service.platform.database.bulk import plan_anew
from callwright.service.platform.database.units import PIECE_ROWS, ROWS_AT_ONCE
from callwright.service.platform.json_text import json_text
from callwright.service.tables.schema import deployment_contacts, deployments

CAMPAIGN_ENDED = "campaign_ended"
"""Why a contact has expired: it still waited when the end of its campaign had passed."""
Drop = Literal["cancelling", "expiring"]
_D, _K = deployments.c, deployment_contacts.c
_STATES = ("pending", "retry_waiting")
_WAITING_IDS = (
    select(_K.id).where(_K.deployment_id == bindparam("id"), WAITING).order_by(_K.next_at).limit(ROWS_AT_ONCE)
)

_LAST_OF_PIECE = (
    select(_K.position)
    .where(_K.deployment_id == bindparam("id"), _K.position >= bindparam("begin"))
    .order_by(_K.position)
    .offset(PIECE_ROWS - 1)
    .limit(1)
)
"""Where the next piece ends; None if fewer contacts are left."""


@dataclass(frozen=True)
class _Dropped:
    status: str
    reason: str | None = None


_AS = {"cancelling": _Dropped("cancelled"), "expiring": _Dropped("expired", CAMPAIGN_ENDED)}


def drop_waiting(connection: Connection, row: Row[Any], change: Drop) -> dict[str, Any]:
    """Drops the contacts of a deployment that wait to be called. Returns what this changes in its row, which the caller
    has locked and writes with the status in which nobody is dialled."""
    states: dict[str, int] = json.loads(row.states)
    waiting = sum(states.pop(name, 0) for name in _STATES)
    dropped = _AS[change].status
    states[dropped] = states.get(dropped, 0) + waiting
    is_large = waiting > ROWS_AT_ONCE
    if not is_large:
        _drop_some(connection, row.id, change)
    under_way = {"contact_changes": change if is_large else None, "contacts_added": None}
    return {"states": json_text(states), "changed_fields": None, "contacts_changed": None, **under_way}


def drop_piece(connection: Connection, row: Row[Any]) -> None:
    """Drops the next contacts of a deployment whose `contact_changes` says that some are left. The caller has locked
    it."""
    plan_anew(connection)
    begin: int = row.contacts_changed or 0
    last: int | None = connection.execute(_LAST_OF_PIECE, {"id": row.id, "begin": begin}).scalar()
    values: dict[str, Any] = {"contacts_changed": begin}
    if last is not None:
        _drop(connection, row.id, row.contact_changes, _K.position.between(begin, last))
        values["contacts_changed"] = last + 1
    elif _drop_some(connection, row.id, row.contact_changes) < ROWS_AT_ONCE:
        values = {"contacts_changed": None, "contact_changes": None}
    connection.execute(update(deployments).where(_D.id == row.id).values(**values))


def _drop_some(connection: Connection, deployment_id: str, change: Drop) -> int:
    """Drops those who wait, wherever they stand, at most `ROWS_AT_ONCE`; how many."""
    ids = connection.execute(_WAITING_IDS, {"id": deployment_id}).scalars().all()
    if ids:
        # Kept, the plan would compare each waiting contact with each id: half a minute for 300,000 contacts.
        plan_anew(connection)
        _drop(connection, deployment_id, change, _K.id.in_(ids))
    return len(ids)


def _drop(connection: Connection, deployment_id: str, change: Drop, these: ColumnElement[bool]) -> None:
    dropped = _AS[change]
    values: dict[str, Any] = {"status": dropped.status, "next_at": None}
    if dropped.reason is not None:
        values["status_reason"] = dropped.reason
    connection.execute(
        update(deployment_contacts).where(_K.deployment_id == deployment_id, these, WAITING).values(**values)
    )
