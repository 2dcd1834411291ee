"""In which order the people of a campaign are dialled, before its start and after it.

Of those who are due now the highest priority comes first, then the earliest, then the first in the list. Whom the list
says not to call before a later time comes after them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    Row,
    Select,
    bindparam,
    case,
    func,
    literal,
    select,
)

from callwright.service.dialling.eligibility.reasons import why_not
from callwright.service.dialling.queue import WAITING, priorities
from callwright.service.tables.schema import audience_rows, deployment_contacts

_R, _K = audience_rows.c, deployment_contacts.c
_CELLS = (_R.timezone, _R.cells, _R.steering, _R.language)
_HIGHEST = select(func.max(_R.priority)).where(
    _R.audience_id == bindparam("id"), _R.priority.is_not(None), _R.priority < bindparam("below")
)
SAMPLE = 1_000
"""How many people are looked at, one by one."""
_People = Select[*tuple[Any, ...]]


def due_at(due_ms: int) -> ColumnElement[int]:
    """When a row's person is due in a campaign in which the others are due at `due_ms`."""
    return case((_R.not_before > due_ms, _R.not_before), else_=literal(due_ms, BigInteger)).label("due_at")


def next_people(
    connection: Connection, row: Row[Any], *, begin_ms: int, now_ms: int, most: int = SAMPLE
) -> Sequence[Row[Any]]:
    """The first people who may be called, in the order of dialling; those who wait, if the deployment has started."""
    if row.started_at is not None:
        people = waiting(connection, row, now_ms).add_columns(
            *(_K.id, _K.phone, _K.next_at, _K.position, _K.attempts, _K.priority, *_CELLS)
        )
        in_order = people.order_by(_K.next_at, _K.position)
        now, later = in_order.where(_K.next_at <= begin_ms), in_order.where(_K.next_at > begin_ms)
        return _first(connection, _of_level(now, _K.priority), priorities(connection, row.id), later, most)
    next_at, attempts = due_at(begin_ms).label("next_at"), literal(0, Integer).label("attempts")
    people = select(_R.id, _R.phone, next_at, _R.position, attempts, _R.priority, *_CELLS).where(
        _R.audience_id == row.audience_id, why_not(connection, row, _R.phone, now_ms).is_(None)
    )
    now = people.where(_R.not_before.is_(None) | (_R.not_before <= begin_ms)).order_by(_R.position)
    later = people.where(_R.not_before > begin_ms).order_by(_R.not_before, _R.position)
    return _first(
        connection, _of_level(now, _R.priority), priorities(connection, row.audience_id, _HIGHEST), later, most
    )


def waiting(connection: Connection, row: Row[Any], now_ms: int) -> _People:
    """The contacts of a started deployment that may be called, joined with their rows. It selects no columns yet."""
    joined = deployment_contacts.outerjoin(audience_rows, _R.id == _K.id)
    reason = why_not(connection, row, _K.phone, now_ms)
    return select().select_from(joined).where(_K.deployment_id == row.id, WAITING, reason.is_(None))


def _of_level(people: _People, priority: ColumnElement[int | None]) -> Callable[[int | None], _People]:
    return lambda level: people.where(priority.is_(None) if level is None else priority == level)


def _first(
    connection: Connection,
    of_level: Callable[[int | None], _People],
    levels: Iterator[int | None],
    later: _People,
    most: int,
) -> Sequence[Row[Any]]:
    found = list[Row[Any]]()
    for level in levels:
        found += connection.execute(of_level(level).limit(most - len(found))).all()
        if len(found) == most:
            return found
    return [*found, *connection.execute(later.limit(most - len(found))).all()]
