"""Virtual time: the calls of a round are simulated before they are dialled, and the clock jumps to their ends.

A retry four hours later takes no time. The times of all calls respect channels, pace, calling hours and retry policy.
"""

import json
from collections.abc import Sequence
from typing import Any

import anyio
from anyio import to_thread
from sqlalchemy import Row

from callwright.service.dialling.claims import Draft
from callwright.service.dialling.finishing import Finished
from callwright.service.dialling.queue import Rules
from callwright.service.dialling.rounds.driver_writes import DriverWrites
from callwright.service.dialling.rounds.round import Held, Round
from callwright.service.dialling.rounds.undialled_calls import no_longer_made, undialled
from callwright.service.dialling.schedule import Schedule
from callwright.service.rules.retry_policy import shortest_interval_ms
from callwright.service.telephony.engine import CallRequest, CallResult, VirtualTimeEngine

BUSY_S = 0.05
"""Seconds of the service's time between two rounds while other campaigns call all numbers that are due."""
PUT_OFF_S = 0.5
"""The same after the pre-dial check put a round off: time jumps to when it may be asked again, without end."""


class VirtualTime:
    """The pace of an engine that knows the results of calls in advance."""

    jumps = True

    def __init__(self, engine: VirtualTimeEngine, writes: DriverWrites) -> None:
        self._engine = engine
        self._writes = writes
        self._results: dict[str, CallResult] = {}
        """The results of the round's calls, by call id."""

    def now_ms(self, row: Row[Any], next_ms: int | None) -> int:
        """The first time at which a channel is free and somebody is due."""
        first_ms = self.channel_free_at(row, 0)[0]
        return first_ms if next_ms is None else max(first_ms, next_ms)

    def due_until_ms(self, rules: Rules, now_ms: int) -> int:
        """The earliest time at which a call of this round could be made again."""
        return now_ms + shortest_interval_ms(rules.policy)

    def channel_free_at(self, row: Row[Any], room: int) -> list[int]:
        """The times that the last round stored. A channel without one is free at the time of the deployment's clock:
        calls were made in real time before, or the deployment had fewer channels.
        """
        kept: list[int] = sorted(json.loads(row.channel_free_at))[-row.max_concurrency :]
        return [row.clock_ms] * (row.max_concurrency - len(kept)) + kept

    def is_idle(self, row: Row[Any]) -> bool:
        """Always, because the calls of a round end in it."""
        return True

    async def resume(self, rules: Rules, unfinished: Sequence[tuple[CallRequest, Row[Any]]]) -> None:
        """Dials the calls that the engine has not dialled and that are still to be made, and records all of them."""
        requests = [request for request, _ in unfinished]
        known = await self._engine.known([request.call_id for request in requests])
        missing = [(request, row.created_at) for request, row in unfinished if request.call_id not in known]
        given = (rules, [request for request, _ in missing], self._writes.clock.now_ms())
        gone = await self._writes.database.read(no_longer_made, *given) if missing else set[str]()
        if dialled := [one for one in missing if one[0].call_id not in gone]:
            await self._engine.dial(dialled)
        made = [(request, row) for request, row in unfinished if request.call_id not in gone]
        results = await to_thread.run_sync(lambda: [self._engine.simulate(request) for request, _ in made])
        finished = [
            *(
                Finished(request, result, row.created_at, started_told=row.started_at is not None)
                for (request, row), result in zip(made, results, strict=True)
            ),
            *(undialled(request, row.created_at) for request, row in unfinished if request.call_id in gone),
        ]
        free = [*self.channel_free_at(rules.row, 0), *(one.ended_ms for one in finished)]
        await self._writes.record(rules, finished, sorted(free)[-rules.row.max_concurrency :])

    async def hang_up(self, call_ids: Sequence[str]) -> None:
        """Does nothing: no call is under way between rounds."""

    def lasts_ms(self, request: CallRequest) -> int:
        """The length of the simulated call."""
        result = self._results[request.call_id] = self._engine.simulate(request)
        return round(result.ended_s * 1_000)

    def is_due(self, dial_ms: int) -> bool:
        """Always, because time jumps to the call."""
        return True

    async def carry_out(self, rules: Rules, dialled: Sequence[Draft], schedule: Schedule) -> None:
        """Dials the calls and records their results."""
        await self._engine.dial([(draft.request, draft.dial_ms) for draft in dialled])
        finished = [Finished(draft.request, self._results[draft.request.call_id], draft.dial_ms) for draft in dialled]
        await self._writes.record(rules, finished, schedule.channel_free_at)

    async def wait(self, seen: Round, held: Held | None) -> None:
        """Waits only for calls of other campaigns, and before the pre-dial check is asked again."""
        self._results.clear()
        if held is not None:
            await anyio.sleep(BUSY_S if held == "busy" else PUT_OFF_S)
