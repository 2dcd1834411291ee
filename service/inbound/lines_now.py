"""The lines of an inbound deployment as they are now: those of calls on real lines and of simulated ones together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, select, union_all

from callwright.service.dialling.limits.concurrency import lines_for_callers
from callwright.service.inbound.call_details import InboundDetails
from callwright.service.inbound.waiting_lines import WaitingLines
from callwright.service.platform.database.listing import without_index
from callwright.service.tables.schema import calls, legs

_C, _L = calls.c, legs.c
_LIVE: Select[*tuple[Any, ...]] = (
    select(_L.call_id, _L.queue_place, _C.inbound)
    .join(calls, _C.id == _L.call_id)
    .where(_L.deployment_id == bindparam("id"), _L.state != "ended", _C.ended_at.is_(None))
    .order_by(_C.created_at, _C.id)
)
_OF_DEPLOYMENT: Select[*tuple[Any, ...]] = select(_C.inbound, _C.ended_at).where(
    _C.deployment_id == bindparam("id"), without_index(_C.created_at) <= bindparam("begun_by")
)
# Each part has its index. In one, or by the time they were made, all calls that ever came would be read.
_SIMULATED = union_all(_OF_DEPLOYMENT.where(_C.ended_at.is_(None)), _OF_DEPLOYMENT.where(_C.ended_at > bindparam("at")))
_FOR_EVER_MS = _UNTIL_THEY_END = 1 << 62
"""Nobody knows when calls on real lines end."""


@dataclass(frozen=True)
class OnLine:
    """A call of the agent of an inbound deployment that has not ended. `queue_place` as in the table of legs."""

    call_id: str
    queue_place: int | None

    @property
    def waits(self) -> bool:
        """Whether the caller waits for a line."""
        return bool(self.queue_place)


def on_lines(connection: Connection, deployment_id: str) -> Sequence[OnLine]:
    """The calls of the agent of a deployment on real lines that have not ended, in the order of their coming."""
    found = connection.execute(_LIVE, {"id": deployment_id})
    return [OnLine(row.call_id, row.queue_place) for row in found if InboundDetails.read(row.inbound).action == "agent"]


def lines_at(connection: Connection, row: Row[Any], at_ms: int, *, begun_by_ms: int = _FOR_EVER_MS) -> WaitingLines:
    """The lines from a moment on: taken by calls under way, and by simulated ones whose end is known and yet to come.
    Virtual time runs ahead, so simulated calls may begin later: those up to `begun_by_ms` count."""
    taken: list[int] = []
    waiting: list[int] = []
    under_way = 0
    for inbound, ended_ms in connection.execute(_SIMULATED, {"id": row.id, "at": at_ms, "begun_by": begun_by_ms}):
        details = InboundDetails.read(inbound)
        if details.line_until_ms is not None:
            taken.append(details.line_until_ms if ended_ms is None else min(details.line_until_ms, ended_ms))
            under_way += ended_ms is None
        if details.waits_until_ms is not None:
            waiting.append(details.waits_until_ms if ended_ms is None else min(details.waits_until_ms, ended_ms))
    live = on_lines(connection, row.id)
    taken += [_UNTIL_THEY_END] * len(live)
    queue = [_UNTIL_THEY_END] * sum(one.waits for one in live)
    further = lines_for_callers(connection, row.org_id)
    most: int = row.max_concurrency
    if further is not None:  # who waits on a real line has none yet, and comes before whoever comes now
        most = min(most, max(0, further - len(queue)) + under_way + len(live))
    return WaitingLines(most, taken, [*waiting, *queue])


def free_lines(connection: Connection, row: Row[Any], at_ms: int) -> int:
    """How many lines are free for those who wait on real lines."""
    ends = (
        InboundDetails.read(inbound).line_until_ms
        for inbound, _ in connection.execute(_SIMULATED, {"id": row.id, "at": at_ms, "begun_by": at_ms})
    )
    simulated = sum(until_ms is not None and until_ms > at_ms for until_ms in ends)
    talking = simulated + sum(not one.waits for one in on_lines(connection, row.id))
    free, of_plan = max(0, row.max_concurrency - talking), lines_for_callers(connection, row.org_id)
    return free if of_plan is None else min(free, of_plan)
