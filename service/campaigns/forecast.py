"""Who is next in a deployment, and about when everybody has been called once."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import BigInteger, Connection, Integer, Row, Select, func, literal, literal_column, select

from callwright.service.dialling.eligibility.reasons import why_not
from callwright.service.dialling.queue import WAITING
from callwright.service.platform.clock.clock import HOUR, SECOND
from callwright.service.rules.capped_calling import Allowance, CappedCalling
from callwright.service.rules.open_hours import OpenHours, finish_ms
from callwright.service.tables.schema import audience_rows, deployment_contacts

_R, _K = audience_rows.c, deployment_contacts.c
_CELLS = (_R.timezone, _R.cells, _R.steering)
SAMPLE = 1_000
"""How many people are looked at, one by one."""
DueInAnHour = tuple[int, int, int]
"""Those who become due in one hour: the first and the last time, and the number of people."""


def next_people(
    connection: Connection, row: Row[Any], *, begin_ms: int, now_ms: int, most: int = SAMPLE
) -> Sequence[Row[Any]]:
    """The first people who may be called, in the order of dialling; those who wait, if the deployment has started."""
    if row.started_at is not None:
        waiting = _waiting(connection, row, now_ms)
        found = waiting.add_columns(_K.id, _K.phone, _K.next_at, _K.position, _K.attempts, *_CELLS)
        return connection.execute(found.order_by(_K.next_at, _K.position).limit(most)).all()
    next_at, attempts = literal(begin_ms, BigInteger).label("next_at"), literal(0, Integer).label("attempts")
    people: Select[*tuple[Any, ...]] = (
        select(_R.id, _R.phone, next_at, _R.position, attempts, *_CELLS)
        .where(_R.audience_id == row.audience_id, why_not(connection, row, _R.phone, now_ms).is_(None))
        .order_by(_R.position)
        .limit(most)
    )
    return connection.execute(people).all()


def due_by_hour(connection: Connection, row: Row[Any], *, begin_ms: int, now_ms: int) -> Sequence[DueInAnHour]:
    """When the people of a deployment become due: all at the beginning, or those who wait once it has started."""
    return _due(connection, row, now_ms) if row.started_at is not None else [(begin_ms, begin_ms, 1)]


def all_called_ms(
    groups: Sequence[DueInAnHour],
    places: Collection[OpenHours],
    *,
    begin_ms: int,
    calling_ms: int,
    allowances: Sequence[Allowance] = (),
) -> int | None:
    """When everybody of these groups has been called once, if all their calls take `calling_ms` together.

    A retry is not made before it is due. With people in several `places` the result is that of the place that takes
    longest. `allowances` are those of the numbers' daily caps; () if these delay nobody. None: nobody is left, or it is
    too far ahead.
    """
    found: list[int] = []
    for place in places:
        finish = CappedCalling(allowances).finish_ms if allowances else finish_ms
        over_ms = _over_ms(groups, place, finish, begin_ms=begin_ms, calling_ms=calling_ms)
        if over_ms is None:
            return None
        found.append(over_ms)
    return max(found, default=None)


def _waiting(connection: Connection, row: Row[Any], now_ms: int) -> Select[*tuple[Any, ...]]:
    joined = deployment_contacts.outerjoin(audience_rows, _R.id == _K.id)
    reason = why_not(connection, row, _K.phone, now_ms)
    return select().select_from(joined).where(_K.deployment_id == row.id, WAITING, reason.is_(None))


def _due(connection: Connection, row: Row[Any], now_ms: int) -> Sequence[DueInAnHour]:
    hour = _K.next_at // literal_column(str(HOUR), Integer)
    found = _waiting(connection, row, now_ms).add_columns(func.min(_K.next_at), func.max(_K.next_at), func.count())
    return [(first, last, count) for first, last, count in connection.execute(found.group_by(hour).order_by(hour))]


def _over_ms(
    groups: Sequence[DueInAnHour],
    hours: OpenHours,
    finish: Callable[[int, int, OpenHours], int | None],
    *,
    begin_ms: int,
    calling_ms: int,
) -> int | None:
    people, at_ms = sum(count for _, _, count in groups), begin_ms
    for first_ms, last_ms, count in groups:
        over_ms = finish(max(at_ms, first_ms), calling_ms * count // people, hours)
        if over_ms is None:
            return None
        at_ms = max(over_ms, last_ms)
    return _inside(hours, at_ms, begin_ms)


def _inside(hours: OpenHours, at_ms: int, begin_ms: int) -> int | None:
    """`at_ms` if calls are allowed then, else a second before if they are allowed then, else the next allowed time."""
    for moment_ms in (at_ms, max(at_ms - SECOND, begin_ms)):
        if hours.first(moment_ms) == moment_ms:
            return moment_ms
    return hours.first(at_ms)
