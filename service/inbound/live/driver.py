"""Drives an inbound deployment on real lines: follows the legs of its callers, records their calls, and moves those who
wait up.

The line hosts carry the calls, whoever drives. Another process goes on when this one ends.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import TaskGroup
from sqlalchemy import Connection, Row, Select, bindparam, select

from callwright.service.dialling.leases import fence_of
from callwright.service.dialling.queue import FIND, Rules
from callwright.service.dialling.rounds.driver_writes import DriverWrites
from callwright.service.dialling.rounds.real_time import DeploymentTime, RealTime
from callwright.service.inbound.call_details import request_in
from callwright.service.inbound.live.queue import is_due, move_up
from callwright.service.tables.schema import calls, legs
from callwright.service.telephony.engine import CallEngine, CallRequest, EarlyEnd, EngineParts
from callwright.service.telephony.registry import ENGINES

LOOK_S = 0.25
"""Seconds between two looks for new callers, calls to hang up and lines that are free."""
_C, _L = calls.c, legs.c
_OPEN: Select[*tuple[Any, ...]] = (
    select(_C.id, _C.inbound, _C.created_at, _C.started_at, _C.hang_up_requested_at, _L.carrier, _L.queue_place)
    .join(legs, _L.call_id == _C.id)
    .where(_C.deployment_id == bindparam("id"), _C.ended_at.is_(None))
    .order_by(_C.created_at, _C.id)
)


@dataclass(frozen=True)
class _Seen:
    """A deployment at one look, and its calls that have not ended."""

    row: Row[Any]
    open_calls: Sequence[Row[Any]]

    @property
    def somebody_waits(self) -> bool:
        """Whether a caller waits for a line."""
        return any(one.queue_place for one in self.open_calls)


@dataclass(frozen=True)
class _Line:
    """What follows the calls of one carrier."""

    engine: CallEngine
    pace: RealTime


class LiveInbound:
    """Drives one inbound deployment until none of its calls is under way, or the lease is lost."""

    def __init__(self, writes: DriverWrites) -> None:
        self._writes = writes

    async def drive(self, deployment_id: str) -> None:
        """Drives the deployment until there is nothing left to do now.

        Raises:
            LeaseLost: another process took over; within an exception group.
        """
        writes, followed = self._writes, set[str]()
        lines: dict[str, _Line] = {}
        async with anyio.create_task_group() as tasks:
            while True:
                seen = await writes.database.read(_look, deployment_id)
                if not seen.open_calls:
                    return
                for one in seen.open_calls:
                    if one.carrier not in lines:
                        lines[one.carrier] = self._line(one.carrier, tasks)
                    if one.id not in followed:
                        followed.add(one.id)
                        request = request_in(one.inbound)
                        rules = await writes.database.read(_rules, deployment_id, request)
                        lines[one.carrier].pace.begin(
                            rules, request, one.created_at, is_told=one.started_at is not None
                        )
                await self._end_some(lines, seen)
                now_ms = writes.clock.now_ms()
                if seen.somebody_waits and await writes.database.read(is_due, deployment_id, now_ms):
                    await writes.database.write(move_up, deployment_id, writes.owner, now_ms)
                await anyio.sleep(LOOK_S)

    def _line(self, carrier: str, tasks: TaskGroup) -> _Line:
        writes = self._writes
        time = DeploymentTime(writes.clock, writes.clock.now_ms(), 1.0)
        parts = EngineParts(writes.database, writes.clock, time, fence_of(writes.owner))
        engine = ENGINES[carrier](parts)
        return _Line(engine, RealTime(engine, writes, time, tasks))

    async def _end_some(self, lines: Mapping[str, _Line], seen: _Seen) -> None:
        """Hangs up whoever is to be hung up, and whoever still waits for an agent that answers no more."""
        for one in seen.open_calls:
            engine = lines[one.carrier].engine
            if one.hang_up_requested_at is not None:
                await engine.hang_up(one.id)
            if one.queue_place and seen.row.status != "active":
                await engine.hang_up(one.id, EarlyEnd("platform", "call_rejected"))


def _look(connection: Connection, deployment_id: str) -> _Seen:
    row: Row[Any] = connection.execute(FIND, {"id": deployment_id}).one()
    return _Seen(row, connection.execute(_OPEN, {"id": deployment_id}).all())


def _rules(connection: Connection, deployment_id: str, request: CallRequest) -> Rules:
    row: Row[Any] = connection.execute(FIND, {"id": deployment_id}).one()
    return Rules.of(connection, row, request.agent)
