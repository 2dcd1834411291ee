"""What the calls of a campaign with a daily budget cap cost within 24 hours, by the five minutes in which they ended.

Sums are of at most 289 rows, however many calls there were. A cost counts until the whole five minutes are 24 hours
old: rather a little too long than too short.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import accumulate

from sqlalchemy import Connection, bindparam, delete, func, insert, literal_column, select

from callwright.service.platform.clock.clock import DAY, MINUTE
from callwright.service.platform.database.inserts import upsert
from callwright.service.tables.schema import calls, deployment_costs

SLICE_MS = 5 * MINUTE
_S, _C = deployment_costs.c, calls.c
_OWN = _S.deployment_id == bindparam("id")
_SINCE = select(_S.slice_at, _S.cost_micros).where(_OWN, _S.slice_at > bindparam("since")).order_by(_S.slice_at)
_THESE = select(_S.slice_at, _S.cost_micros).where(_OWN, _S.slice_at.in_(bindparam("slices", expanding=True)))
_SLICE = _C.ended_at - _C.ended_at % literal_column(str(SLICE_MS))
_OF_CALLS = (
    select(_SLICE.label("slice_at"), func.sum(_C.cost_micros).label("cost_micros"))
    .where(_C.deployment_id == bindparam("id"), _C.ended_at > bindparam("since"), _C.cost_micros > 0)
    .group_by(_SLICE)
)


def add(connection: Connection, deployment_id: str, costs: Iterable[tuple[int, int]]) -> None:
    """Adds costs, each with the end of its call. The caller holds the lock of the deployment."""
    added = Counter[int]()
    for ended_ms, micros in costs:
        if micros:
            added[ended_ms - ended_ms % SLICE_MS] += micros
    if not added:
        return
    known = connection.execute(_THESE, {"id": deployment_id, "slices": list(added)}).all()
    added.update({one.slice_at: one.cost_micros for one in known})
    rows = [{"deployment_id": deployment_id, "slice_at": at, "cost_micros": micros} for at, micros in added.items()]
    key = [_S.deployment_id, _S.slice_at]
    upsert(connection, deployment_costs, rows, unique=key, replaces=["cost_micros"], returning=[_S.slice_at])


def rebuild(connection: Connection, deployment_id: str, at_ms: int) -> None:
    """Reads the costs of the last 24 hours before a moment from the calls, for a campaign that gets a daily cap."""
    connection.execute(delete(deployment_costs).where(_OWN), {"id": deployment_id})
    found = connection.execute(_OF_CALLS, {"id": deployment_id, "since": at_ms - DAY - SLICE_MS}).all()
    rows = [{"deployment_id": deployment_id, "slice_at": one.slice_at, "cost_micros": one.cost_micros} for one in found]
    if rows:
        connection.execute(insert(deployment_costs), rows)


def spent(connection: Connection, deployment_id: str, at_ms: int) -> int:
    """Micros that the calls cost in the 24 hours before a moment; later ones count too."""
    return sum(cost for _, cost in _slices(connection, deployment_id, at_ms))


def first_below(connection: Connection, deployment_id: str, at_ms: int, most: int) -> int:
    """The first moment from `at_ms` on at which at most so many micros were spent in the 24 hours before it."""
    found = _slices(connection, deployment_id, at_ms)
    left = sum(cost for _, cost in found)
    if left <= most:
        return at_ms
    for (slice_ms, _), gone in zip(found, accumulate(cost for _, cost in found), strict=True):
        if left - gone <= most:
            return slice_ms + SLICE_MS + DAY
    raise ValueError("less than nothing cannot be left")


def _slices(connection: Connection, deployment_id: str, at_ms: int) -> list[tuple[int, int]]:
    found = connection.execute(_SINCE, {"id": deployment_id, "since": at_ms - DAY - SLICE_MS}).all()
    return [(one.slice_at, one.cost_micros) for one in found]
