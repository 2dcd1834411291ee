"""Drives an inbound deployment on the simulated network: its callers come, are routed, answered and recorded.

The routing webhook is really asked, whatever pace the calls have. In virtual time a call is begun and recorded in one
transaction; in real time it lasts, and goes on in the next process if this one ends.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import anyio
import orjson
from sqlalchemy import Connection, Row, Select, bindparam, select

from callwright.service.dialling.finishing import Finished, finish
from callwright.service.dialling.leases import fence_of
from callwright.service.dialling.queue import FIND, Rules
from callwright.service.dialling.rounds.driver_writes import DriverWrites
from callwright.service.dialling.rounds.real_time import DeploymentTime, RealTime
from callwright.service.inbound import callers
from callwright.service.inbound.arrival import Arrival
from callwright.service.inbound.beginning import Begun, begin
from callwright.service.inbound.call_details import InboundDetails, request_in
from callwright.service.inbound.routing.asking import Asked, RoutingWebhook
from callwright.service.inbound.routing.question import Question, question_about
from callwright.service.tables.inbound_settings import inbound_of
from callwright.service.tables.schema import calls, legs, phone_numbers
from callwright.service.telephony.engine import CallRequest, EarlyEnd, EngineParts
from callwright.service.telephony.simulated.engine import SimulatedEngine, outcome_of

MOST_AT_ONCE = 64
"""Callers of one transaction, and questions to a webhook at once."""
LOOK_S = 0.25
"""Seconds of the service's time between two looks for callers, and for calls to hang up."""
_FOR_EVER_MS = 1 << 62
_C = calls.c
_ON_LINE = select(legs.c.call_id).where(legs.c.call_id == _C.id).exists()
"""That a call is on a real line, or came from a browser: `LiveInbound` follows it."""
_OPEN: Select[*tuple[Any, ...]] = (
    select(_C.id, _C.inbound, _C.created_at, _C.started_at, _C.hang_up_requested_at)
    .where(_C.deployment_id == bindparam("id"), _C.ended_at.is_(None), ~_ON_LINE)
    .order_by(_C.created_at, _C.id)
)
_NUMBER = select(phone_numbers).where(phone_numbers.c.id == bindparam("id"))


@dataclass(frozen=True)
class _Seen:
    """A deployment at one look: those who call by now, and the calls that have not ended."""

    row: Row[Any]
    number: Row[Any]
    callers: Sequence[Row[Any]]
    open_calls: Sequence[Row[Any]]


class SimulatedInbound:
    """Drives one inbound deployment until nobody calls and no call is under way, or the lease is lost."""

    def __init__(
        self, writes: DriverWrites, webhook: RoutingWebhook, *, time_scale: float, ends: Callable[[], bool] = bool
    ) -> None:
        """`time_scale` is how many times faster the calls are; `ends` is true once nobody is answered any more."""
        self._writes, self._webhook, self._time_scale, self._ends = writes, webhook, time_scale, ends

    async def drive(self, deployment_id: str) -> None:
        """Drives the deployment until there is nothing left to do now.

        Raises:
            LeaseLost: another process took over; in real time within an exception group.
        """
        if isfinite(self._time_scale):
            await self._in_real_time(deployment_id)
        else:
            await self._in_virtual_time(deployment_id)

    async def _in_virtual_time(self, deployment_id: str) -> None:
        writes = self._writes
        while not self._ends():
            seen = await writes.database.read(_look, deployment_id, _FOR_EVER_MS)
            if seen.open_calls:  # they were begun in real time
                await self._record_open(deployment_id, seen.open_calls)
            if not seen.callers:
                return
            arrivals = await self._asked(seen)
            await writes.database.write(self._begun_and_ended, deployment_id, arrivals)
            writes.events_written()

    def _begun_and_ended(self, connection: Connection, deployment_id: str, arrivals: Sequence[Arrival]) -> None:
        rules, begun = self._begin(connection, deployment_id, arrivals, they_last=False)
        if begun:
            self._finish(connection, rules, [Finished(one.request, one.result, one.at_ms) for one in begun])

    async def _record_open(self, deployment_id: str, open_calls: Sequence[Row[Any]]) -> None:
        def record(connection: Connection) -> None:
            rules = _rules(connection, deployment_id, request_in(open_calls[0].inbound))
            requests = [(request_in(one.inbound), one) for one in open_calls]
            ended = [
                Finished(request, outcome_of(request), one.created_at, started_told=one.started_at is not None)
                for request, one in requests
            ]
            self._finish(connection, rules, ended)

        await self._writes.database.write(record)
        self._writes.events_written()

    def _begin(
        self, connection: Connection, deployment_id: str, arrivals: Sequence[Arrival], *, they_last: bool = True
    ) -> tuple[Rules, list[Begun]]:
        return begin(
            connection, self._writes.ids, deployment_id, arrivals, outcome_of, they_last=they_last, **self._lease()
        )

    def _finish(self, connection: Connection, rules: Rules, ended: Sequence[Finished]) -> None:
        given = self._lease()
        public_url = self._writes.public_url
        finish(
            connection,
            self._writes.ids,
            rules,
            ended,
            public_url=public_url,
            channel_free_at=(),
            decides_cover=True,
            **given,
        )

    def _lease(self) -> dict[str, Any]:
        now_ms = self._writes.clock.now_ms()
        return {"owner": self._writes.owner, "now_ms": now_ms, "lease_until_ms": now_ms + self._writes.lease_ms}

    async def _in_real_time(self, deployment_id: str) -> None:
        writes = self._writes
        row: Row[Any] = await writes.database.read(_row, deployment_id)
        begins_ms = max(row.clock_ms or 0, writes.clock.now_ms())
        time = DeploymentTime(writes.clock, begins_ms, self._time_scale)
        engine = SimulatedEngine(EngineParts(writes.database, writes.clock, time, fence_of(writes.owner)))
        followed: set[str] = set()
        async with anyio.create_task_group() as tasks:
            pace = RealTime(engine, writes, time, tasks)
            while True:
                until_ms = 0 if self._ends() else time.now_ms()
                seen = await writes.database.read(_look, deployment_id, until_ms)
                for one in seen.open_calls:
                    if one.id not in followed:
                        request = request_in(one.inbound)
                        rules = await writes.database.read(_rules, deployment_id, request)
                        pace.begin(rules, request, one.created_at, is_told=one.started_at is not None)
                        followed.add(one.id)
                await self._end_some(engine, seen, time.now_ms())
                if seen.callers:
                    arrivals = await self._asked(seen)
                    await writes.database.write(self._begin, deployment_id, arrivals)
                    continue
                if not seen.open_calls:
                    return
                await anyio.sleep(LOOK_S)

    async def _end_some(self, engine: SimulatedEngine, seen: _Seen, now_ms: int) -> None:
        """Hangs up whoever is to be hung up, and whoever still waits for an agent that answers no more."""
        for one in seen.open_calls:
            if one.hang_up_requested_at is not None:
                await engine.hang_up(one.id)
            waits_ms = InboundDetails.read(one.inbound).waits_until_ms
            if seen.row.status != "active" and waits_ms is not None and waits_ms > now_ms:
                await engine.hang_up(one.id, EarlyEnd("platform", "call_rejected"))

    async def _asked(self, seen: _Seen) -> list[Arrival]:
        """The callers as arrivals, with what the routing webhook says of each if the number has one."""
        answers: dict[str, tuple[Question, Asked]] = {}
        if seen.number.routing_enabled and seen.number.routing_url is not None:
            await self._webhook.ready()
            async with anyio.create_task_group() as tasks:

                async def ask(caller: Row[Any]) -> None:
                    question = question_about(
                        self._writes.ids.new("evt"), seen.number, seen.row, caller.id, caller.from_number
                    )
                    answers[caller.id] = question, await self._webhook.ask(question)

                for caller in seen.callers:
                    tasks.start_soon(ask, caller)
        return [_arrival(caller, answers) for caller in seen.callers]


def _arrival(caller: Row[Any], answers: Mapping[str, tuple[Question, Asked]]) -> Arrival:
    question, asked = answers.get(caller.id, (None, None))
    return Arrival(caller.id, caller.from_number, caller.at_ms, orjson.loads(caller.steering), question, asked)


def _row(connection: Connection, deployment_id: str) -> Row[Any]:
    return connection.execute(FIND, {"id": deployment_id}).one()


def _look(connection: Connection, deployment_id: str, until_ms: int) -> _Seen:
    row = _row(connection, deployment_id)
    number: Row[Any] = connection.execute(_NUMBER, {"id": inbound_of(row).phone_number_id}).one()
    due = callers.due(connection, deployment_id, until_ms, MOST_AT_ONCE)
    return _Seen(row, number, due, connection.execute(_OPEN, {"id": deployment_id}).all())


def _rules(connection: Connection, deployment_id: str, request: CallRequest) -> Rules:
    return Rules.of(connection, _row(connection, deployment_id), request.agent)
