"""Who is called first in a deployment, and about when everybody has been called once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Connection, Integer, Row, Select, func, literal, literal_column, select

from callwright.service.dialling.eligibility.campaign_hours import CampaignHours
from callwright.service.dialling.eligibility.reasons import why_not
from callwright.service.dialling.queue import WAITING
from callwright.service.platform.clock.clock import HOUR, SECOND
from callwright.service.rules.open_hours import OpenHours, finish_ms
from callwright.service.tables.schema import audience_rows, deployment_contacts

_R, _K = audience_rows.c, deployment_contacts.c
_CELLS = (_R.timezone, _R.cells, _R.steering)
SAMPLE = 100
"""How many people are read, to find the first call and the time zones in use."""


@dataclass(frozen=True)
class FirstCall:
    """The first call of a deployment."""

    at_ms: int
    contact: Row[Any]
    """The person: `id`, `phone`, `timezone`, `cells`, `steering` and the `attempts` made so far."""


def next_people(connection: Connection, row: Row[Any], *, begin_ms: int, now_ms: int) -> Sequence[Row[Any]]:
    """The first people who may be called, in the order of dialling; those who wait, if the deployment has started."""
    if row.started_at is not None:
        waiting = _waiting(row, now_ms)
        found = waiting.add_columns(_K.id, _K.phone, _K.next_at, _K.position, _K.attempts, *_CELLS)
        return connection.execute(found.order_by(_K.next_at, _K.position).limit(SAMPLE)).all()
    next_at, attempts = literal(begin_ms, BigInteger).label("next_at"), literal(0, Integer).label("attempts")
    people: Select[*tuple[Any, ...]] = (
        select(_R.id, _R.phone, next_at, _R.position, attempts, *_CELLS)
        .where(_R.audience_id == row.audience_id, why_not(row, _R.phone, now_ms).is_(None))
        .order_by(_R.position)
        .limit(SAMPLE)
    )
    return connection.execute(people).all()


def first_call(
    people: Sequence[Row[Any]], hours: CampaignHours, *, begin_ms: int, end_ms: int | None
) -> FirstCall | None:
    """The first call to one of the people; None if the hours allow no call to any of them before the end."""
    found: list[tuple[int, int, int, int]] = []
    for index, one in enumerate(people):
        due_ms = max(one.next_at, begin_ms)
        at_ms = hours.next_call_ms(one.phone, one.timezone, one.cells, due_ms, end_ms)
        if at_ms is not None:
            # A deferred person is ordered by the time until which they are deferred.
            found.append((at_ms, one.next_at if at_ms == due_ms else at_ms, one.position, index))
    if not found:
        return None
    at_ms, _, _, index = min(found)
    return FirstCall(at_ms, people[index])


def all_called_ms(
    connection: Connection,
    row: Row[Any],
    people: Sequence[Row[Any]],
    hours: CampaignHours,
    *,
    begin_ms: int,
    now_ms: int,
    calling_ms: int,
) -> int | None:
    """When everybody who is left has been called once, if all their calls take `calling_ms` together.

    A retry is not made before it is due. With people in several places the result is that of the place that takes
    longest; `people` is a sample of them. None: nobody is left, it is after the end, or too far ahead.
    """
    if not people:
        return None
    groups = _due(connection, row, now_ms) if row.started_at is not None else [(begin_ms, begin_ms, 1)]
    found: list[int] = []
    for place in {hours.of_person(one.phone, one.timezone, one.cells) for one in people}:
        over_ms = _over_ms(groups, place, begin_ms=begin_ms, calling_ms=calling_ms)
        if over_ms is None:
            return None
        found.append(over_ms)
    latest = max(found)
    return latest if row.end_at is None or latest < row.end_at else None


def _waiting(row: Row[Any], now_ms: int) -> Select[*tuple[Any, ...]]:
    joined = deployment_contacts.outerjoin(audience_rows, _R.id == _K.id)
    reason = why_not(row, _K.phone, now_ms)
    return select().select_from(joined).where(_K.deployment_id == row.id, WAITING, reason.is_(None))


def _due(connection: Connection, row: Row[Any], now_ms: int) -> Sequence[tuple[int, int, int]]:
    """For each hour in which people become due: the first and the last time, and the number of people."""
    hour = _K.next_at // literal_column(str(HOUR), Integer)
    found = _waiting(row, now_ms).add_columns(func.min(_K.next_at), func.max(_K.next_at), func.count())
    return [(first, last, count) for first, last, count in connection.execute(found.group_by(hour).order_by(hour))]


def _over_ms(groups: Sequence[tuple[int, int, int]], hours: OpenHours, *, begin_ms: int, calling_ms: int) -> int | None:
    people, at_ms = sum(count for _, _, count in groups), begin_ms
    for first_ms, last_ms, count in groups:
        over_ms = finish_ms(max(at_ms, first_ms), calling_ms * count // people, hours)
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
