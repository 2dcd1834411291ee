"""Virtual time: a round's calls are simulated before they are dialled, and the deployment's clock jumps to their ends.

A retry four hours later takes no time, and the moments of all calls agree with channels, pace, hours and retry policy.
"""

import json
from collections.abc import Sequence
from typing import Any

import anyio
from anyio import to_thread
from sqlalchemy import Row

from callwright.service.dialling.claims import Draft
from callwright.service.dialling.driver_writes import DriverWrites
from callwright.service.dialling.finishing import Finished
from callwright.service.dialling.queue import Rules
from callwright.service.dialling.rounds import Round
from callwright.service.dialling.schedule import Schedule
from callwright.service.rules.retries import shortest_interval_ms
from callwright.service.telephony.engine import CallRequest, CallResult, VirtualTimeEngine

BUSY_S = 0.05
"""Between two tries, in the service's time, when every number that is due is being called by somebody else."""


class VirtualTime:
    """The pace of an engine that needs no time."""

    jumps = True

    def __init__(self, engine: VirtualTimeEngine, writes: DriverWrites) -> None:
        self._engine = engine
        self._writes = writes
        self._results: dict[str, CallResult] = {}
        """What becomes of the calls of the round, by call id."""

    def now_ms(self, row: Row[Any], next_ms: int | None) -> int:
        """When the first channel is free and somebody is due."""
        first_ms = self.channel_free_at(row, 0)[0]
        return first_ms if next_ms is None else max(first_ms, next_ms)

    def due_until_ms(self, rules: Rules, now_ms: int) -> int:
        """As far ahead as no call of the round makes anybody due."""
        return now_ms + shortest_interval_ms(rules.policy)

    def channel_free_at(self, row: Row[Any], room: int) -> list[int]:
        """As the round before left them."""
        kept: list[int] = sorted(json.loads(row.channel_free_at))[-row.max_concurrency :]
        return [row.started_at] * (row.max_concurrency - len(kept)) + kept

    def is_idle(self, row: Row[Any]) -> bool:
        """Always: the calls of a round end in it."""
        return True

    async def resume(self, rules: Rules, unfinished: Sequence[tuple[CallRequest, Row[Any]]]) -> None:
        """Asks the engine which of the calls it made, has it make the others now, and records all of them."""
        requests = [request for request, _ in unfinished]
        known = await self._engine.known([request.call_id for request in requests])
        missing = [(request, row.created_at) for request, row in unfinished if request.call_id not in known]
        if missing:
            await self._engine.dial(missing)
        results = await to_thread.run_sync(lambda: [self._engine.simulate(request) for request in requests])
        finished = [
            Finished(request, result, row.created_at, started_told=row.started_at is not None)
            for (request, row), result in zip(unfinished, results, strict=True)
        ]
        free = [*self.channel_free_at(rules.row, 0), *(one.ended_ms for one in finished)]
        await self._writes.record(rules, finished, sorted(free)[-rules.row.max_concurrency :])

    async def hang_up(self, call_ids: Sequence[str]) -> None:
        """Nothing: no call is under way between rounds."""

    def lasts_ms(self, request: CallRequest) -> int:
        """As long as the simulated call lasts."""
        result = self._results[request.call_id] = self._engine.simulate(request)
        return round(result.ended_s * 1_000)

    def is_due(self, dial_ms: int) -> bool:
        """Always: time jumps to the call."""
        return True

    async def carry_out(self, rules: Rules, dialled: Sequence[Draft], schedule: Schedule) -> None:
        """Dials the calls and records what became of them."""
        await self._engine.dial([(draft.request, draft.dial_ms) for draft in dialled])
        finished = [Finished(draft.request, self._results[draft.request.call_id], draft.dial_ms) for draft in dialled]
        await self._writes.record(rules, finished, schedule.channel_free_at)

    async def rest(self, seen: Round, *, is_busy: bool) -> None:
        """Waits only for what other campaigns do."""
        self._results.clear()
        if is_busy:
            await anyio.sleep(BUSY_S)
