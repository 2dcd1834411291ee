"""Real time: each call is a task, its stages are written as they happen, and the deployment's clock runs.

Carriers are driven this way, and so is the simulated network when its calls take time; there the clock may run faster.
"""

from collections.abc import Sequence
from typing import Any

import anyio
from anyio.abc import TaskGroup
from sqlalchemy import Connection, Row, update

from callwright.contract.deployments.call_price import EXTENDED_S, HELD_BACK_S
from callwright.service.dialling import transfers
from callwright.service.dialling.claims import Draft
from callwright.service.dialling.finishing import Finished, started_event
from callwright.service.dialling.leases import mine
from callwright.service.dialling.limits.coverage import LEAD_S
from callwright.service.dialling.queue import Rules
from callwright.service.dialling.rounds.driver_writes import DriverWrites
from callwright.service.dialling.rounds.round import Held, Round
from callwright.service.dialling.rounds.undialled_calls import no_longer_made, undialled
from callwright.service.dialling.schedule import Schedule
from callwright.service.platform.clock.clock import SECOND, Clock
from callwright.service.platform.ids import Ids
from callwright.service.tables import outbox
from callwright.service.tables.schema import calls, deployments
from callwright.service.telephony.engine import (
    CallEngine,
    CallProgress,
    CallRequest,
    CallResult,
    EarlyEnd,
    VirtualTimeEngine,
)

_C = calls.c
_STAGES = {
    "initiated": ("initiated", _C.started_at),
    "ringing": ("ringing", _C.ringing_at),
    "answered": ("in_progress", _C.answered_at),
}
"""The status of a call at each stage, and the column with the time of the stage."""
LONGEST_WAIT_S = 0.5
"""Seconds of the service's time between two reads of a deployment: how late a pause by a request is seen."""
SHORTEST_WAIT_S = 0.005
KEEP_CLOCK_S = 5.0
"""Seconds of the service's time between writes of a deployment's clock. A restart loses at most this much of it."""
UNKNOWN_MS = 1 << 45
"""A call of unknown length keeps its channel for the whole round."""
MOST_CHANNELS = 1_000
"""The most channels a deployment can have."""


class DeploymentTime:
    """A deployment's running clock. It begins at `begins_ms` and runs `scale` times as fast as real time.

    Setting the machine's clock does not change it.
    """

    def __init__(self, clock: Clock, begins_ms: int, scale: float) -> None:
        self._clock = clock
        self._begins_ms = begins_ms
        self._since_ms = clock.running_ms()
        self.scale = scale

    def now_ms(self) -> int:
        """The time of the deployment's clock."""
        return self._begins_ms + round((self._clock.running_ms() - self._since_ms) * self.scale)

    async def until(self, moment_ms: int) -> None:
        """Waits until the deployment's clock shows `moment_ms`."""
        left_ms = moment_ms - self.now_ms()
        if left_ms > 0:
            await anyio.sleep(left_ms / SECOND / self.scale)


class RealTime:
    """The pace of an engine whose calls take real time. They run in the task group of the runner."""

    jumps = False

    def __init__(self, engine: CallEngine, writes: DriverWrites, time: DeploymentTime, tasks: TaskGroup) -> None:
        self._engine = engine
        self._writes = writes
        self._time = time
        self._tasks = tasks
        self._under_way: set[str] = set()
        self._looked_ms = time.now_ms()
        """When, on the deployment's clock, the last round began."""
        self._ended_ms: list[int] = []
        """When the latest calls ended, for the times at which their channels are free."""

    def now_ms(self, row: Row[Any], next_ms: int | None) -> int:
        """The time of the deployment's clock."""
        return self._time.now_ms()

    def due_until_ms(self, rules: Rules, now_ms: int) -> int:
        """The time of the round: nobody is called ahead of time."""
        return now_ms

    def channel_free_at(self, row: Row[Any], room: int) -> list[int]:
        """When each free channel was free: at the last round, or when its call ended if that was later."""
        latest = sorted(self._ended_ms)[-room:] if room else []
        return [max(moment_ms, self._looked_ms) for moment_ms in [0] * (room - len(latest)) + latest]

    def is_idle(self, row: Row[Any]) -> bool:
        """Whether no call is under way."""
        return not row.in_flight and not self._under_way

    async def resume(self, rules: Rules, unfinished: Sequence[tuple[CallRequest, Row[Any]]]) -> None:
        """Resumes calls where they stopped. Those that were not dialled and are not to be made any more end."""
        writes, gone = self._writes, set[str]()
        if isinstance(self._engine, VirtualTimeEngine):  # it knows what it has dialled
            known = await self._engine.known([request.call_id for request, _ in unfinished])
            missing = [request for request, _ in unfinished if request.call_id not in known]
            if missing:
                now_ms, dial_ms = writes.clock.now_ms(), self._time.now_ms()
                gone = await writes.database.read(no_longer_made, rules, missing, now_ms, dial_ms=dial_ms)
        for request, row in unfinished:
            if request.call_id in gone:
                await writes.record(rules, [undialled(request, row.created_at)])
                continue
            self.begin(rules, request, row.created_at, is_told=row.started_at is not None)

    async def hang_up(self, call_ids: Sequence[str]) -> None:
        """Hangs up calls that are under way."""
        for call_id in call_ids:
            await self._engine.hang_up(call_id)

    def lasts_ms(self, request: CallRequest) -> int:
        """Unknown, see `UNKNOWN_MS`."""
        return UNKNOWN_MS

    def is_due(self, dial_ms: int) -> bool:
        """Whether the time of dialling has come."""
        return dial_ms <= self._time.now_ms()

    async def carry_out(self, rules: Rules, dialled: Sequence[Draft], schedule: Schedule) -> None:
        """Begins the calls."""
        for draft in dialled:
            self.begin(rules, draft.request, draft.dial_ms, is_told=False)

    async def wait(self, seen: Round, held: Held | None) -> None:
        """Waits until somebody is due and the pace allows a call, at most `LONGEST_WAIT_S`.

        It waits as long as that if the pre-dial check put the round off, so that others are not asked about in a rush.
        """
        row = seen.rules.row
        self._looked_ms = seen.now_ms
        if seen.now_ms - row.clock_ms > KEEP_CLOCK_S * SECOND * self._time.scale:
            await self._writes.database.write(_keep_clock, row.id, owner=self._writes.owner, clock_ms=seen.now_ms)
        now_ms, wait_s = self._time.now_ms(), LONGEST_WAIT_S
        dials = row.status == "active" and row.in_flight < row.max_concurrency
        if held != "put_off" and dials and seen.next_ms is not None and (seen.contacts or seen.next_ms > now_ms):
            paced_ms = 0 if row.last_dial_ms is None else row.last_dial_ms + seen.rules.pace.gap_ms(row.last_dial_ms)
            free_ms = seen.caller_ids.first_free(now_ms) if seen.caller_ids else 0
            left_ms = max(seen.next_ms, paced_ms, free_ms) - now_ms
            wait_s = min(wait_s, max(left_ms / SECOND / self._time.scale, SHORTEST_WAIT_S))
        await anyio.sleep(wait_s)

    def begin(self, rules: Rules, request: CallRequest, dial_ms: int, *, is_told: bool) -> None:
        """Makes a call, or goes on with it, beside the others. `is_told`: its start has been told."""
        self._under_way.add(request.call_id)
        self._tasks.start_soon(self._make, rules, request, dial_ms, is_told)

    async def _make(self, rules: Rules, request: CallRequest, dial_ms: int, is_told: bool) -> None:
        """One call from its dialling to its record."""
        writes = self._writes

        async def report(progress: CallProgress) -> None:
            nonlocal is_told
            clock_ms = self._time.now_ms()
            await writes.database.write(_progress, writes.ids, request, progress, owner=writes.owner, clock_ms=clock_ms)
            writes.events_written()
            is_told = True
            if progress.stage == "answered":
                cover.start_soon(self._keep_covered, request, progress.at_ms)

        results: list[CallResult] = []
        async with anyio.create_task_group() as cover:
            results.append(await self._engine.run(request, report, dial_ms=dial_ms))
            cover.cancel_scope.cancel()
        (result,) = results
        finished = Finished(request, result, dial_ms, started_told=is_told)
        # Before the call is recorded: from then on its channel counts as free.
        self._ended_ms = sorted([*self._ended_ms, finished.ended_ms])[-MOST_CHANNELS:]
        await writes.record(rules, [finished])
        self._under_way.discard(request.call_id)

    async def _keep_covered(self, request: CallRequest, answered_ms: int) -> None:
        """Holds back a further minute whenever what is held back is nearly used up, or ends the call when it is."""
        covered_s = HELD_BACK_S
        while covered_s < request.max_duration_s:
            await self._time.until(answered_ms + (covered_s - LEAD_S) * SECOND)
            cause = await self._writes.extend(request, covered_s + EXTENDED_S)
            if cause is not None:
                end_ms = answered_ms + covered_s * SECOND
                await self._time.until(end_ms)
                await self._engine.hang_up(request.call_id, EarlyEnd("platform", cause, end_ms))
                return
            covered_s += EXTENDED_S


def _progress(
    connection: Connection, ids: Ids, request: CallRequest, progress: CallProgress, *, owner: str, clock_ms: int
) -> None:
    """Writes a stage of a call. A stage that was written before is not written again."""
    row: Row[Any] = mine(connection, request.deployment_id, owner)
    if progress.stage == "transfer":
        transfers.write_progress(connection, ids, row, request, progress)
    else:
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
