"""About when everybody in a deployment has been called once."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Integer, Row, bindparam, func, literal_column, select

from callwright.service.campaigns.dial_order import waiting
from callwright.service.platform.clock.clock import HOUR, SECOND
from callwright.service.rules.capped_calling import Allowance, CappedCalling
from callwright.service.rules.open_hours import OpenHours, finish_ms
from callwright.service.tables.schema import audience_rows, audiences, deployment_contacts

_R, _K = audience_rows.c, deployment_contacts.c
_HOUR = _R.not_before // literal_column(str(HOUR), Integer)
_LATER = (
    select(func.min(_R.not_before), func.max(_R.not_before), func.count())
    .where(_R.audience_id == bindparam("id"), _R.not_before > bindparam("begin"))
    .group_by(_HOUR)
    .order_by(_HOUR)
)
_PEOPLE = select(audiences.c.valid_count).where(audiences.c.id == bindparam("id"))
DueInAnHour = tuple[int, int, int]
"""Those who become due in one hour: the first and the last time, and the number of people."""


def due_by_hour(connection: Connection, row: Row[Any], *, begin_ms: int, now_ms: int) -> Sequence[DueInAnHour]:
    """When the people of a deployment become due: those who wait once it has started, else all at the beginning but for
    those whom the list says not to call before a later time."""
    if row.started_at is not None:
        return _due(connection, row, now_ms)
    of_list = {"id": row.audience_id, "begin": begin_ms}
    later = [(first, last, count) for first, last, count in connection.execute(_LATER, of_list)]
    if not later:
        return [(begin_ms, begin_ms, 1)]
    people: int = connection.execute(_PEOPLE, of_list).scalar_one()
    return [(begin_ms, begin_ms, people - sum(count for _, _, count in later)), *later]


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


def _due(connection: Connection, row: Row[Any], now_ms: int) -> Sequence[DueInAnHour]:
    hour = _K.next_at // literal_column(str(HOUR), Integer)
    found = waiting(connection, row, now_ms).add_columns(func.min(_K.next_at), func.max(_K.next_at), func.count())
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
