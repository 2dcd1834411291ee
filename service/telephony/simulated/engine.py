"""The simulated network as an engine: calls in batches without waiting, or one by one in the time of a clock."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace

import anyio
from sqlalchemy import Connection

from callwright.service.telephony.early_end import cut_short
from callwright.service.telephony.engine import (
    CallProgress,
    CallRequest,
    CallResult,
    EarlyEnd,
    EngineParts,
    Report,
    Stage,
)
from callwright.service.telephony.simulated import placed_calls
from callwright.service.telephony.simulated.network import simulate
from callwright.service.telephony.transfers import CallTransfer

log = logging.getLogger(__name__)


def outcome_of(request: CallRequest) -> CallResult:
    """The result of a call. An error in the simulation ends the call as failed and does not stop the campaign."""
    try:
        return simulate(request)
    except Exception:
        log.exception("the simulated network failed", extra={"call_id": request.call_id})
        return CallResult(call_id=request.call_id, outcome="failed", hangup_cause="platform_error", ended_by="platform")


def _stages(result: CallResult, dial_ms: int) -> Iterator[CallProgress]:
    """What happens on a call that is dialled at a moment, in its order."""

    def reached(stage: Stage, offset_s: float, transfer: CallTransfer | None = None) -> CallProgress:
        return CallProgress(result.call_id, stage, dial_ms + round(offset_s * 1_000), transfer)

    yield reached("initiated", result.initiated_s)
    if result.ringing_s is not None:
        yield reached("ringing", result.ringing_s)
    if result.answered_s is None:
        return
    yield reached("answered", result.answered_s)
    transfer = result.transfer
    if transfer is not None:
        begun = replace(transfer, status="ringing", cause=None, at_s=transfer.started_s)
        yield reached("transfer", result.answered_s + transfer.started_s, begun)
        yield reached("transfer", result.answered_s + transfer.at_s, transfer)


class SimulatedEngine:
    """A call engine with no telephone behind it."""

    def __init__(self, parts: EngineParts) -> None:
        self._database, self._timeline, self._fence = parts.database, parts.timeline, parts.fence
        self._hang_ups: dict[str, anyio.Event] = {}
        self._ends: dict[str, EarlyEnd] = {}
        """Why calls are ended early, by call id."""

    def simulate(self, request: CallRequest) -> CallResult:
        """The result of a call. Nothing is dialled: this network knows it in advance."""
        return outcome_of(request)

    async def dial(self, dialled: Sequence[tuple[CallRequest, int]]) -> None:
        """Dials claimed calls, each with its time of dialling: the network records them."""
        await self._database.write(self._record, dialled)

    def _record(self, connection: Connection, dialled: Sequence[tuple[CallRequest, int]]) -> None:
        if dialled:
            self._fence(connection, dialled[0][0])
        placed_calls.record(connection, dialled)

    async def known(self, call_ids: Sequence[str]) -> set[str]:
        """Those of the calls that were dialled before."""
        return await self._database.read(placed_calls.known, call_ids)

    async def run(self, request: CallRequest, report: Report, *, dial_ms: int) -> CallResult:
        """Makes one call by the clock of the timeline. A call that was dialled before continues."""
        if not await self.known([request.call_id]):
            await self.dial([(request, dial_ms)])
        result = self.simulate(request)
        hang_up = self._hang_ups.setdefault(request.call_id, anyio.Event())
        try:
            for progress in _stages(result, dial_ms):
                if await self._hung_up(hang_up, progress.at_ms):
                    return self._cut(request, result, dial_ms)
                await report(progress)
            if await self._hung_up(hang_up, dial_ms + round(result.ended_s * 1_000)):
                return self._cut(request, result, dial_ms)
            return result
        finally:
            del self._hang_ups[request.call_id]
            self._ends.pop(request.call_id, None)

    async def _hung_up(self, hang_up: anyio.Event, until_ms: int) -> bool:
        """Waits until `until_ms` or a hang-up; returns whether it was the hang-up."""
        if hang_up.is_set():
            return True
        async with anyio.create_task_group() as tasks:

            async def wait_for_hang_up() -> None:
                await hang_up.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(wait_for_hang_up)
            await self._timeline.until(until_ms)
            tasks.cancel_scope.cancel()
        return hang_up.is_set()

    def _cut(self, request: CallRequest, result: CallResult, dial_ms: int) -> CallResult:
        end = self._ends.get(result.call_id) or EarlyEnd()
        at_ms = self._timeline.now_ms() if end.at_ms is None else end.at_ms
        after_s = (at_ms - dial_ms) / 1_000
        cut = cut_short(result, after_s, end)
        wait = None if request.answering is None else request.answering.wait
        if request.answering is not None and cut.outcome == "cancelled" and end.ended_by == "platform":
            return replace(cut, outcome="rejected", hangup_cause=end.cause)  # it rang, and nobody answers any more
        if wait is not None and after_s < (wait.waits_s or 0.0) and cut.outcome == "answered":
            return replace(cut, outcome="abandoned", disposition=None)  # the agent had not answered yet
        return cut

    async def hang_up(self, call_id: str, end: EarlyEnd | None = None) -> None:
        """Ends a call that `run` is making; another one is left alone."""
        event = self._hang_ups.get(call_id)
        if event is not None and not event.is_set():
            if end is not None:
                self._ends[call_id] = end
            event.set()
