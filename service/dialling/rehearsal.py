"""Driving a deployment on the simulated network as fast as possible, in the deployment's own time.

In rounds: read who is due, foresee their calls, plan them on the lines, claim them, let the network dial them, record
what happened. The deployment's clock jumps to the next contact that falls due, so a retry four hours later takes no
time, and the moments of all calls agree with lines, pace, hours and retry policy.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from sqlalchemy import Connection, Row

from callwright.service.dialling import endings, waiting
from callwright.service.dialling.claims import allowance, claim, draft_calls
from callwright.service.dialling.finishing import Finished, finish
from callwright.service.dialling.leases import LeaseLost
from callwright.service.dialling.queue import FIND, Rules, due, is_open, numbers_of, open_calls, soonest
from callwright.service.dialling.schedule import LOOK_AHEAD, plan_round
from callwright.service.platform.clock.clock import Clock
from callwright.service.platform.database.database import Database
from callwright.service.platform.ids import Ids
from callwright.service.rules.retries import shortest_interval_ms
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.telephony.engine import CallRequest, CallResult
from callwright.service.telephony.simulated.engine import SimulatedEngine

BUSY_S = 0.05
"""Between two tries, in the service's time, when every number that is due is being called by somebody else."""


@dataclass(frozen=True)
class _Round:
    """What a round begins with."""

    rules: Rules
    open: Sequence[tuple[CallRequest, Row[Any]]]
    contacts: Sequence[Row[Any]]
    numbers: Sequence[Row[Any]]
    lines: Sequence[int]
    room: int
    blocked: str | None
    waiting: bool
    past_end: bool


def _look(connection: Connection, deployment_id: str, owner: str) -> _Round:
    row: Row[Any] | None = connection.execute(FIND, {"id": deployment_id}).one_or_none()
    if row is None or row.lease_owner != owner:
        raise LeaseLost(deployment_id)
    rules = Rules.of(row)
    room = allowance(connection, row)
    next_ms = soonest(connection, deployment_id)
    kept: list[int] = sorted(json.loads(row.lines))[-row.max_concurrency :]
    lines = [row.started_at] * (row.max_concurrency - len(kept)) + kept
    contacts: Sequence[Row[Any]] = ()
    past_end = False
    if next_ms is not None and row.status == "active":
        now_ms = max(lines[0], next_ms)
        past_end = row.end_at is not None and now_ms >= row.end_at
        until_ms = now_ms + shortest_interval_ms(rules.policy)
        contacts = due(connection, deployment_id, until_ms, room.most + (LOOK_AHEAD if rules.hours else 0))
    return _Round(
        rules,
        open_calls(connection, rules) if row.in_flight else (),
        contacts,
        numbers_of(connection, deployment_id),
        lines,
        room.most,
        room.reason,
        next_ms is not None,
        past_end,
    )


class Rehearsal:
    """Drives one deployment until it ends, stops being active, or the lease is lost."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        ids: Ids,
        engine: SimulatedEngine,
        *,
        owner: str,
        lease_ms: int,
        public_url: str | None = None,
        ends: Callable[[], bool] = bool,
    ) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._engine = engine
        self._owner = owner
        self._lease_ms = lease_ms
        self._public_url = public_url
        self._ends = ends

    async def drive(self, deployment_id: str) -> None:
        """Rounds until there is nothing left to do now, or no more may begin. Raises `LeaseLost`."""
        while not self._ends() and await self._round(deployment_id):
            pass

    async def _round(self, deployment_id: str) -> bool:
        seen = await self._database.read(_look, deployment_id, self._owner)
        if seen.open:
            await self._finish_open(seen)
            return True
        if seen.rules.row.status != "active":
            return False
        if seen.past_end:
            await self._end(endings.run_out_of_time, deployment_id)
            return False
        if not seen.waiting:
            return not await self._end(endings.complete, deployment_id)
        if seen.blocked is not None:
            await self._stop(endings.pause, deployment_id, seen.blocked)
            return False
        if not seen.numbers:
            await self._stop(endings.fail, deployment_id, "no_phone_number")
            return False
        if is_open(seen.contacts):
            await self._database.write(waiting.decide, deployment_id, owner=self._owner)
            return True
        return await self._dial(seen)

    async def _dial(self, seen: _Round) -> bool:
        rules = seen.rules
        requests = {
            contact.id: rules.request(
                contact, call_id=self._ids.new("cal"), attempt=contact.attempts + 1, from_number=""
            )
            for contact in seen.contacts[: seen.room]
        }
        results = dict(zip(requests, await self._engine.foresee(list(requests.values())), strict=True))
        row = rules.row
        planned = plan_round(
            [rules.slot(contact) for contact in seen.contacts],
            lines=seen.lines,
            last_dial_ms=row.last_dial_ms,
            calls_per_second=settings_of(row).calls_per_second,
            hours=rules.hours,
            lasts_ms=lambda contact_id: round(results[contact_id].ended_s * 1_000),
            most=seen.room,
            end_ms=row.end_at,
            foreseen=results.keys(),
        )
        if not (planned.calls or planned.deferred or planned.never):
            await self._end(endings.run_out_of_time, row.id)  # every turn would come after the end
            return False
        contacts = {contact.id: contact for contact in seen.contacts}
        drafts = draft_calls(rules, contacts, planned.calls, seen.numbers, requests)
        now_ms = self._clock.now_ms()
        claimed = await self._database.write(
            claim,
            self._ids,
            rules,
            drafts,
            deferred=planned.deferred,
            never=[contacts[contact_id] for contact_id in planned.never],
            owner=self._owner,
            now_ms=now_ms,
            lease_until_ms=now_ms + self._lease_ms,
        )
        dialled = [draft for draft in drafts if draft.request.call_id in claimed.calls]
        if not dialled:
            if planned.calls and not claimed.suppressed:  # all these numbers are being called by others now
                await anyio.sleep(BUSY_S)
            return True
        await self._engine.dial([(draft.request, draft.dial_ms) for draft in dialled])
        finished = [Finished(draft.request, results[draft.contact.id], draft.dial_ms) for draft in dialled]
        await self._record(rules, finished, planned.lines)
        return True

    async def _finish_open(self, seen: _Round) -> None:
        """Calls that a crash left open: the network is asked which of them it made, the others it makes now."""
        requests = [request for request, _ in seen.open]
        known = await self._engine.known([request.call_id for request in requests])
        missing = [(request, row.created_at) for request, row in seen.open if request.call_id not in known]
        if missing:
            await self._engine.dial(missing)
        results: list[CallResult] = await self._engine.foresee(requests)
        finished = [
            Finished(request, result, row.created_at, started_told=row.started_at is not None)
            for (request, row), result in zip(seen.open, results, strict=True)
        ]
        busy = [*seen.lines, *(one.ended_ms for one in finished)]
        await self._record(seen.rules, finished, sorted(busy)[-seen.rules.row.max_concurrency :])

    async def _record(self, rules: Rules, finished: Sequence[Finished], lines: Sequence[int]) -> None:
        now_ms = self._clock.now_ms()
        await self._database.write(
            finish,
            self._ids,
            rules,
            finished,
            owner=self._owner,
            now_ms=now_ms,
            lease_until_ms=now_ms + self._lease_ms,
            lines=lines,
            public_url=self._public_url,
        )

    async def _end(self, ending: Any, deployment_id: str) -> bool:
        now_ms = self._clock.now_ms()
        return await self._database.write(ending, self._ids, deployment_id, owner=self._owner, now_ms=now_ms)

    async def _stop(self, ending: Any, deployment_id: str, reason: str) -> None:
        now_ms = self._clock.now_ms()
        await self._database.write(ending, self._ids, deployment_id, reason, owner=self._owner, now_ms=now_ms)
