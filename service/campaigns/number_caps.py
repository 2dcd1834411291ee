"""The calls that the numbers of a campaign may make within 24 hours, for its forecast."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Connection, Row, bindparam, func, select

from callwright.service.platform.clock.clock import DAY
from callwright.service.rules.capped_calling import Allowance
from callwright.service.tables.schema import calls

_C = calls.c
_MADE = (
    select(_C.phone_number_id, func.count(), func.min(_C.created_at))
    .where(
        _C.phone_number_id.in_(bindparam("ids", expanding=True)), _C.created_at > bindparam("since", type_=BigInteger)
    )
    .group_by(_C.phone_number_id)
)
_OLDEST_THAT_COUNTS = (
    select(_C.created_at)
    .where(_C.phone_number_id == bindparam("id"))
    .order_by(_C.created_at.desc())
    .offset(bindparam("newer"))
    .limit(1)
)


@dataclass(frozen=True)
class NumberCaps:
    """What the caps of all numbers allow together.

    They make at most `most` calls within any 24 hours. `made` of them are made, and count until `again_ms`: for each
    number until its oldest call does not count any more, on average.
    """

    numbers: int
    most: int
    made: int
    again_ms: int

    def allowances(self, *, begin_ms: int, calling_ms: int, people: int) -> tuple[Allowance, ...]:
        """The calling that is allowed, if calls to so many people take `calling_ms`; () if the caps delay nobody."""
        if people <= self.most - self.made:
            return ()
        parts = (begin_ms, self.most - self.made), (max(begin_ms, self.again_ms), self.made)
        return tuple((from_ms, -(-calling_ms * calls // people)) for from_ms, calls in parts if calls)


def number_caps(connection: Connection, numbers: Sequence[Row[Any]], begin_ms: int) -> NumberCaps | None:
    """The caps of the numbers with the calls that they made, in any campaign, in the 24 hours before `begin_ms`.

    None if one of them has no cap, or if there are none. Calls of other campaigns after `begin_ms` are not foreseen.
    """
    caps: dict[str, int | None] = {number.id: number.max_calls_per_day for number in numbers}
    most = [cap for cap in caps.values() if cap is not None]
    if not caps or len(most) < len(caps):
        return None
    made = again_ms = 0
    for number_id, count, oldest_ms in connection.execute(_MADE, {"ids": sorted(caps), "since": begin_ms - DAY}):
        cap = caps[number_id] or 0
        if count > cap:
            oldest_ms = connection.execute(_OLDEST_THAT_COUNTS, {"id": number_id, "newer": cap - 1}).scalar_one()
        made += min(count, cap)
        again_ms += min(count, cap) * (oldest_ms + DAY)
    return NumberCaps(len(caps), sum(most), made, again_ms // made if made else 0)
