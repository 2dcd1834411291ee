"""The health of phone numbers: carriers block numbers whose calls people end at once.

A number rests while more than 40 % of its newest 20 answered calls of the last 24 hours were shorter than six seconds,
over all campaigns. Campaigns then call from their other numbers.
"""

from collections.abc import Sequence

from sqlalchemy import BigInteger, Connection, Integer, Label, bindparam, case, func, literal, select

from callwright.service.platform.clock.clock import DAY
from callwright.service.rules.review_thresholds import LEAST_CALLS, MOST_SHORT, SHORT_CALL_MS
from callwright.service.tables.counters import REACHED
from callwright.service.tables.schema import calls, phone_numbers

HEALTH = "health"
"""The name of the column of `health_at`."""
_C, _N = calls.c, phone_numbers.c


def _health(since: object) -> Label[str]:
    newest = (
        select(case((_C.duration_ms < SHORT_CALL_MS, 1), else_=0).label("short"))
        .where(_C.phone_number_id == _N.id, _C.outcome.in_(REACHED), _C.created_at > since)
        .order_by(_C.created_at.desc())
        .limit(LEAST_CALLS)
        .correlate(phone_numbers)
        .subquery()
    )
    short = func.coalesce(func.sum(newest.c.short, type_=Integer), 0)
    rests = (func.count() == LEAST_CALLS) & (short > round(MOST_SHORT * LEAST_CALLS))
    found = select(case((rests, literal("resting")), else_=literal("good"))).select_from(newest)
    return found.scalar_subquery().label(HEALTH)


_RESTING = select(_N.id, _health(bindparam("since", type_=BigInteger))).where(
    _N.id.in_(bindparam("ids", expanding=True))
)


def health_at(at_ms: int) -> Label[str]:
    """The health of each number of a statement, at a moment, as a column."""
    return _health(literal(at_ms - DAY, BigInteger))


def resting(connection: Connection, number_ids: Sequence[str], at_ms: int) -> frozenset[str]:
    """Those of the numbers that rest at a moment."""
    found = connection.execute(_RESTING, {"ids": list(number_ids), "since": at_ms - DAY})
    return frozenset(number_id for number_id, health in found if health == "resting")
