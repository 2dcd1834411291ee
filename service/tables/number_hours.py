"""How many calls each phone number has, by the hour in which they were made.

So a number that is far from its cap of calls a day is known as such without counting its calls. A call whose person was
deleted goes on counting here: what is found is the most that there may be.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import BigInteger, Connection, Integer, bindparam, delete, func, select

from callwright.service.platform.clock.clock import DAY, HOUR
from callwright.service.platform.database.inserts import PreparedAddition
from callwright.service.tables.schema import number_hours

KEPT_MS = 3 * DAY
_H = number_hours.c
_KEY = ("phone_number_id", "hour", "call_type")
_ADD = PreparedAddition(number_hours, [_H[name] for name in _KEY], adds=_H.calls)
_SUMS = (
    select(_H.phone_number_id, func.sum(_H.calls, type_=Integer))
    .where(_H.phone_number_id.in_(bindparam("ids", expanding=True)), _H.hour >= bindparam("hour", type_=BigInteger))
    .group_by(_H.phone_number_id)
)
_OLD = _H.hour < bindparam("before", type_=BigInteger)
_ANY_OLD = select(_H.hour).where(_OLD).limit(1)
_FORGET = delete(number_hours).where(_OLD)


def add(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Counts calls that were just made. Those of one type are counted under one lock, in the order of their numbers: so
    no two transactions wait for each other.
    """
    made = Counter(
        (row["phone_number_id"], row["created_at"] // HOUR, row["call_type"])
        for row in rows
        if row.get("phone_number_id") is not None
    )
    added = [dict(zip(_KEY, key, strict=True)) | {"calls": count} for key, count in sorted(made.items())]
    _ADD.run_many(connection, added)


def most_since(connection: Connection, number_ids: Sequence[str], since_ms: int) -> dict[str, int]:
    """How many calls numbers may have at most that were made after `since_ms`; those of its whole hour count."""
    found = connection.execute(_SUMS, {"ids": number_ids, "hour": since_ms // HOUR})
    return {number_id: int(count) for number_id, count in found}


def are_old(connection: Connection, now_ms: int) -> bool:
    """Whether there are counts for which no cap asks any more."""
    return connection.execute(_ANY_OLD, {"before": (now_ms - KEPT_MS) // HOUR}).first() is not None


def forget_old(connection: Connection, now_ms: int) -> None:
    """Deletes counts for which no cap asks any more."""
    connection.execute(_FORGET, {"before": (now_ms - KEPT_MS) // HOUR})
