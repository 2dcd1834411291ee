"""Driving a deployment call by call in running time: each call a task, its stages written as they happen.

This is how a carrier is driven, and the simulated network when it is not run as fast as possible. The deployment's
clock runs `scale` times as fast as the service's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import TaskGroup
from sqlalchemy import Connection, Row, bindparam, select, update

from callwright.service.dialling import endings, waiting
from callwright.service.dialling.claims import allowance, claim, draft_calls
from callwright.service.dialling.finishing import Finished, finish, started_event
from callwright.service.dialling.leases import LeaseLost, fence_of, mine
from callwright.service.dialling.queue import FIND, Rules, due, is_open, numbers_of, open_calls, soonest
from callwright.service.dialling.schedule import LOOK_AHEAD, gap_ms, plan_round
from callwright.service.platform.clock.clock import SECOND, Clock
from callwright.service.platform.database.database import Database
from callwright.service.platform.ids import Ids
from callwright.service.tables import outbox
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.schema import calls, deployments
from callwright.service.telephony.engine import CallProgress, CallRequest
from callwright.service.telephony.simulated.engine import SimulatedEngine

_C = calls.c
_STAGES = {
    "initiated": ("initiated", _C.started_at),
    "ringing": ("ringing", _C.ringing_at),
    "answered": ("in_progress", _C.answered_at),
}
"""The status a stage leads to and the column that keeps its moment."""
_HANG_UPS = select(_C.id).where(
    _C.deployment_id == bindparam("id"), _C.ended_at.is_(None), _C.hang_up_requested_at.is_not(None)
)
LONGEST_WAIT_S = 0.5
"""Between two looks at a deployment, in the service's time: how late a pause from another process is seen."""


KEEP_CLOCK_S = 5.0
"""How much of the service's time a restart may take back from a deployment's clock while nothing happens in it."""


UNKNOWN_MS = 1 << 45
"""How long a call occupies its line while nobody knows: until it ends, so no other call of the round gets the line."""
MOST_LINES = 1_000
"""The most lines a deployment can have."""


class DeploymentTime:
    """A deployment's running clock: begins at the moment it was left at, and runs `scale` times as fast as life.

    Whoever sets the machine's clock does not move it.
    """

    def __init__(self, clock: Clock, begins_ms: int, scale: float) -> None:
        self._clock = clock
        self._begins_ms = begins_ms
        self._since_ms = clock.running_ms()
        self._scale = scale

    def now_ms(self) -> int:
        """The deployment's moment."""
        return self._begins_ms + round((self._clock.running_ms() - self._since_ms) * self._scale)

    async def until(self, moment_ms: int) -> None:
        """Waits until the deployment's clock shows a moment."""
        left_ms = moment_ms - self.now_ms()
        if left_ms > 0:
            await anyio.sleep(left_ms / SECOND / self._scale)


@dataclass(frozen=True)
class _Look:
    rules: Rules
    room: int
    contacts: list[Row[Any]]
    numbers: list[Row[Any]]
    hang_ups: list[str]
    blocked: str | None
    next_ms: int | None


def _look(connection: Connection, deployment_id: str, owner: str, now_ms: int) -> _Look:
    row: Row[Any] | None = connection.execute(FIND, {"id": deployment_id}).one_or_none()
    if row is None or row.lease_owner != owner:
        raise LeaseLost(deployment_id)
    room = allowance(connection, row)
    numbers = list(numbers_of(connection, deployment_id))
    dials = row.status == "active" and numbers and (row.end_at is None or now_ms < row.end_at)
    rules = Rules.of(row)
    ahead = LOOK_AHEAD if rules.hours and room.most else 0
    contacts = list(due(connection, deployment_id, now_ms, room.most + ahead)) if dials else []
    return _Look(
        rules,
        room.most,
        contacts,
        numbers,
        list(connection.execute(_HANG_UPS, {"id": deployment_id}).scalars()),
        room.reason,
        soonest(connection, deployment_id),
    )


def _progress(
    connection: Connection, ids: Ids, request: CallRequest, progress: CallProgress, *, owner: str, clock_ms: int
) -> None:
    """Writes a stage of a call. A call never goes back: a stage that was written before stays as it is."""
    row: Row[Any] = mine(connection, request.deployment_id, owner)
    status, column = _STAGES[progress.stage]
    changed = connection.execute(
        update(calls)
        .where(_C.id == request.call_id, column.is_(None), _C.ended_at.is_(None))
        .values({column: progress.at_ms, _C.status: status})
    ).rowcount
    if changed and progress.stage == "initiated":
        outbox.add_events(connection, [started_event(ids, row, request, progress.at_ms)])
    connection.execute(update(deployments).where(deployments.c.id == row.id).values(clock_ms=clock_ms))


def _keep_clock(connection: Connection, deployment_id: str, *, owner: str, clock_ms: int) -> None:
    mine(connection, deployment_id, owner)
    connection.execute(update(deployments).where(deployments.c.id == deployment_id).values(clock_ms=clock_ms))


class LiveDriver:
    """Drives one deployment until it ends, stops being active with nothing under way, or the lease is lost."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        ids: Ids,
        *,
        owner: str,
        lease_ms: int,
        scale: float,
        public_url: str | None = None,
        ends: Callable[[], bool] = bool,
    ) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._owner = owner
        self._lease_ms = lease_ms
        self._scale = scale
        self._public_url = public_url
        self._ends = ends
        self._under_way: set[str] = set()
        self._looked_ms = 0
        """When, on the deployment's clock, it was last looked whom to call."""
        self._ended_ms: list[int] = []
        """When the latest calls ended: no line is used for the next call before."""

    async def drive(self, deployment_id: str) -> None:
        """Calls until there is nothing left to do now. Raises `LeaseLost` when another process took over."""
        row = await self._database.read(lambda connection: connection.execute(FIND, {"id": deployment_id}).one())
        time = DeploymentTime(self._clock, row.clock_ms, self._scale)
        self._looked_ms = row.clock_ms
        engine = SimulatedEngine(self._database, time, fence=fence_of(self._owner))
        async with anyio.create_task_group() as tasks:
            rules = Rules.of(row)
            for request, call in await self._database.read(open_calls, rules):
                self._begin(tasks, engine, rules, time, request, call.created_at, told=call.started_at is not None)
            while await self._step(tasks, engine, time, deployment_id):
                pass

    async def _step(self, tasks: TaskGroup, engine: SimulatedEngine, time: DeploymentTime, deployment_id: str) -> bool:
        now_ms = time.now_ms()
        look = await self._database.read(_look, deployment_id, self._owner, now_ms)
        for call_id in look.hang_ups:
            await engine.hang_up(call_id)
        row = look.rules.row
        idle = not row.in_flight and not self._under_way
        if idle and (self._ends() or row.status != "active"):
            return False
        if row.status == "active" and idle:
            if row.end_at is not None and now_ms >= row.end_at:
                await self._stop(endings.run_out_of_time, deployment_id)
                return False
            if look.next_ms is None:
                return not await self._stop(endings.complete, deployment_id)
            if look.blocked is not None:
                await self._stop(endings.pause, deployment_id, look.blocked)
                return False
            if not look.numbers:
                await self._stop(endings.fail, deployment_id, "no_phone_number")
                return False
        if is_open(look.contacts):
            await self._database.write(waiting.decide, deployment_id, owner=self._owner)
            return True
        if look.contacts and not self._ends():
            await self._dial(tasks, engine, time, look, now_ms)
        self._looked_ms = now_ms
        if now_ms - row.clock_ms > KEEP_CLOCK_S * SECOND * self._scale:
            await self._database.write(_keep_clock, deployment_id, owner=self._owner, clock_ms=now_ms)
        await self._rest(time, look)
        return True

    async def _dial(
        self, tasks: TaskGroup, engine: SimulatedEngine, time: DeploymentTime, look: _Look, now_ms: int
    ) -> None:
        """Claims a call for each step of the pace that has passed since the last look, and begins them."""
        rules, row = look.rules, look.rules.row
        requests = {
            contact.id: rules.request(
                contact, call_id=self._ids.new("cal"), attempt=contact.attempts + 1, from_number=""
            )
            for contact in look.contacts
        }
        planned = plan_round(
            [rules.slot(contact) for contact in look.contacts],
            lines=self._lines(look.room),
            last_dial_ms=row.last_dial_ms,
            calls_per_second=settings_of(row).calls_per_second,
            hours=rules.hours,
            lasts_ms=lambda _: UNKNOWN_MS,
            most=look.room,
            end_ms=row.end_at,
            foreseen=requests.keys(),
        )
        soon = [plan for plan in planned.calls if plan.dial_ms <= now_ms]
        contacts = {contact.id: contact for contact in look.contacts}
        drafts = draft_calls(rules, contacts, soon, look.numbers, requests)
        moment_ms = self._clock.now_ms()
        claimed = await self._database.write(
            claim,
            self._ids,
            rules,
            drafts,
            deferred=planned.deferred,
            never=[contacts[contact_id] for contact_id in planned.never],
            owner=self._owner,
            now_ms=moment_ms,
            lease_until_ms=moment_ms + self._lease_ms,
        )
        for draft in drafts:
            if draft.request.call_id in claimed.calls:
                self._begin(tasks, engine, rules, time, draft.request, draft.dial_ms, told=False)

    def _lines(self, free: int) -> list[int]:
        """From when each free line can be used: the last look, or the end of its call if that was later."""
        latest = sorted(self._ended_ms)[-free:]
        return [max(moment_ms, self._looked_ms) for moment_ms in [0] * (free - len(latest)) + latest]

    async def _rest(self, time: DeploymentTime, look: _Look) -> None:
        row, now_ms = look.rules.row, time.now_ms()
        wait_s = LONGEST_WAIT_S
        dials = row.status == "active" and row.in_flight < row.max_concurrency
        if dials and look.next_ms is not None and (look.contacts or look.next_ms > now_ms):
            paced_ms = (row.last_dial_ms or 0) + gap_ms(settings_of(row).calls_per_second)
            left_ms = max(look.next_ms, paced_ms) - now_ms
            wait_s = min(wait_s, max(left_ms / SECOND / self._scale, 0.005))
        await anyio.sleep(wait_s)

    def _begin(
        self,
        tasks: TaskGroup,
        engine: SimulatedEngine,
        rules: Rules,
        time: DeploymentTime,
        request: CallRequest,
        dial_ms: int,
        *,
        told: bool,
    ) -> None:
        self._under_way.add(request.call_id)
        tasks.start_soon(self._make, engine, rules, time, request, dial_ms, told)

    async def _make(
        self,
        engine: SimulatedEngine,
        rules: Rules,
        time: DeploymentTime,
        request: CallRequest,
        dial_ms: int,
        told: bool,
    ) -> None:
        """One call from its dialling to its record."""

        async def report(progress: CallProgress) -> None:
            nonlocal told
            clock_ms = time.now_ms()
            await self._database.write(_progress, self._ids, request, progress, owner=self._owner, clock_ms=clock_ms)
            told = True

        result = await engine.run(request, report, dial_ms=dial_ms)
        # Before the call is recorded: from then on its line counts as free.
        self._ended_ms = sorted([*self._ended_ms, dial_ms + round(result.ended_s * SECOND)])[-MOST_LINES:]
        moment_ms = self._clock.now_ms()
        await self._database.write(
            finish,
            self._ids,
            rules,
            [Finished(request, result, dial_ms, started_told=told)],
            owner=self._owner,
            now_ms=moment_ms,
            lease_until_ms=moment_ms + self._lease_ms,
            public_url=self._public_url,
        )
        self._under_way.discard(request.call_id)

    async def _stop(self, ending: Any, deployment_id: str, *reason: str) -> Any:
        now_ms = self._clock.now_ms()
        return await self._database.write(ending, self._ids, deployment_id, *reason, owner=self._owner, now_ms=now_ms)
