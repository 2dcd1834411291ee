"""The simulated network as an engine: calls in batches without waiting, or one by one in the time of a clock."""

import logging
from collections.abc import Sequence
from dataclasses import replace

import anyio
from sqlalchemy import Connection

from callwright.service.telephony.engine import CallProgress, CallRequest, CallResult, EngineParts, Report, Stage
from callwright.service.telephony.simulated import placed_calls
from callwright.service.telephony.simulated.network import simulate

log = logging.getLogger(__name__)


def outcome_of(request: CallRequest) -> CallResult:
    """The result of a call. An error in the simulation ends the call as failed and does not stop the campaign."""
    try:
        return simulate(request)
    except Exception:
        log.exception("the simulated network failed", extra={"call_id": request.call_id})
        return CallResult(call_id=request.call_id, outcome="failed", hangup_cause="platform_error", ended_by="platform")


def cut_short(result: CallResult, after_s: float) -> CallResult:
    """The result of a call that was hung up by request, `after_s` after dialling began."""
    if after_s >= result.ended_s:
        return result
    answered = result.answered_s is not None and result.answered_s <= after_s
    spoken_s = after_s - result.answered_s if answered and result.answered_s is not None else 0.0
    turns = [turn for turn in result.turns if turn.start_s < spoken_s]
    if turns and turns[-1].end_s > spoken_s:
        turns[-1] = replace(turns[-1], end_s=round(spoken_s, 3), interrupted=True)
    return replace(
        result,
        outcome="answered" if answered else "cancelled",
        disposition="incomplete" if answered else None,
        hangup_cause="normal_clearing" if answered else "originator_cancel",
        ended_by="api",
        answered_by=result.answered_by if answered else None,
        initiated_s=min(result.initiated_s, after_s),
        ringing_s=result.ringing_s if result.ringing_s is not None and result.ringing_s <= after_s else None,
        answered_s=result.answered_s if answered else None,
        ended_s=after_s,
        turns=turns if answered else (),
        unanswered_questions=(),
        callback_after_s=None,
    )


class SimulatedEngine:
    """A call engine with no telephone behind it."""

    def __init__(self, parts: EngineParts) -> None:
        self._database, self._timeline, self._fence = parts.database, parts.timeline, parts.fence
        self._hang_ups: dict[str, anyio.Event] = {}

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
        timeline = self._timeline
        if not await self.known([request.call_id]):
            await self.dial([(request, dial_ms)])
        result = self.simulate(request)
        hang_up = self._hang_ups.setdefault(request.call_id, anyio.Event())
        stages: tuple[tuple[Stage, float | None], ...] = (
            ("initiated", result.initiated_s),
            ("ringing", result.ringing_s),
            ("answered", result.answered_s),
        )
        try:
            for stage, offset_s in stages:
                if offset_s is None:
                    continue
                at_ms = dial_ms + round(offset_s * 1_000)
                if await self._hung_up(hang_up, at_ms):
                    return cut_short(result, (timeline.now_ms() - dial_ms) / 1_000)
                await report(CallProgress(request.call_id, stage, at_ms))
            if await self._hung_up(hang_up, dial_ms + round(result.ended_s * 1_000)):
                return cut_short(result, (timeline.now_ms() - dial_ms) / 1_000)
            return result
        finally:
            del self._hang_ups[request.call_id]

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

    async def hang_up(self, call_id: str) -> None:
        """Ends a call that `run` is making; another one is left alone."""
        event = self._hang_ups.get(call_id)
        if event is not None:
            event.set()
