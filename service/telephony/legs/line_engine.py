"""The engine of calls on carriers' lines: it writes a leg for each call, and follows what the line hosts write there.

The driver of a deployment may change in the middle of a call: the next one follows the same leg.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio
from sqlalchemy import Connection, Row

from callwright.service.platform.clock.clock import SECOND
from callwright.service.telephony.engine import CallProgress, CallRequest, CallResult, EarlyEnd, EngineParts, Report
from callwright.service.telephony.legs import leg_rows
from callwright.service.telephony.legs.leg_results import not_dialled, not_opened
from callwright.service.telephony.transfers import CallTransfer

LOOK_S = 0.2
"""Seconds between two reads of the legs under way, all of an engine at once."""
NOT_TAKEN_S = 60.0
"""Seconds after which a leg that no host takes is given up. What allowed it may not hold any more."""
_STAGES: tuple[tuple[leg_rows.LegStage, str], ...] = (
    ("initiated", "initiated_at"),
    ("ringing", "ringing_at"),
    ("answered", "answered_at"),
)


class LineEngine:
    """Makes the calls of one deployment on the lines of one carrier."""

    def __init__(self, parts: EngineParts, carrier: str, *, tells_charges: bool = False) -> None:
        """`tells_charges`: the carrier says later what it charged for a call, see `Carrier.charge_of`."""
        self._database, self._clock, self._fence = parts.database, parts.clock, parts.fence
        self._carrier, self._tells_charges = carrier, tells_charges
        self._followed: set[str] = set()
        self._reading = anyio.Lock()
        self._read_s = 0.0
        self._seen: Mapping[str, Row[Any]] = {}

    async def run(self, request: CallRequest, report: Report, *, dial_ms: int) -> CallResult:
        """Has a line host make the call, and returns its result. A call that has a leg continues."""
        await self._database.write(self._add, request, self._clock.now_ms())
        self._followed.add(request.call_id)
        told: set[str] = set()
        transfers: list[CallTransfer] = []
        try:
            while True:
                leg = await self._look(request.call_id)
                if leg is None:
                    continue
                for stage, column in _STAGES:
                    at_ms: int | None = getattr(leg, column)
                    if at_ms is not None and stage not in told:
                        after_ms = max(at_ms - leg.created_at, 0)  # by the clock of the service, not the deployment's
                        await report(CallProgress(request.call_id, stage, dial_ms + after_ms))
                        told.add(stage)
                transfer = leg_rows.transfer_of(leg)
                if transfer is not None and transfer not in transfers:
                    answered_ms: int = leg.answered_at or leg.created_at
                    after_ms = max(answered_ms - leg.created_at, 0) + round(transfer.at_s * SECOND)
                    await report(CallProgress(request.call_id, "transfer", dial_ms + after_ms, transfer))
                    transfers.append(transfer)
                if leg.state == "ended":
                    return _with_times(leg, tells_charges=self._tells_charges)
                if leg.state == "new" and self._clock.now_ms() - leg.created_at > NOT_TAKEN_S * SECOND:
                    await self._give_up(request)
        finally:
            self._followed.discard(request.call_id)

    async def hang_up(self, call_id: str, end: EarlyEnd | None = None) -> None:
        """Asks the host of a leg to hang up. A leg that is not placed yet ends at once."""
        if call_id in self._followed:
            await self._database.write(leg_rows.ask_to_hang_up, call_id, end or EarlyEnd(), self._clock.now_ms())

    def _add(self, connection: Connection, request: CallRequest, now_ms: int) -> None:
        if leg_rows.find(connection, request.call_id) is None:
            self._fence(connection, request)
            leg_rows.add(connection, self._carrier, request, now_ms)

    async def _give_up(self, request: CallRequest) -> None:
        now_ms = self._clock.now_ms()
        result = not_dialled(request) if request.rings_telephone else not_opened(request)
        await self._database.write(leg_rows.end, result, now_ms, only_in=("new",))

    async def _look(self, call_id: str) -> Row[Any] | None:
        """The leg, as it is after a short wait. One read serves all calls that wait."""
        await anyio.sleep(LOOK_S)
        async with self._reading:
            if call_id not in self._seen or anyio.current_time() - self._read_s > LOOK_S / 2:
                self._seen = await self._database.read(leg_rows.progress_of, list(self._followed))
                self._read_s = anyio.current_time()
        return self._seen.get(call_id)


def _with_times(leg: Row[Any], *, tells_charges: bool) -> CallResult:
    """The result of a leg with its carrier and the times of its stages, in seconds after dialling."""

    def after(at_ms: int | None) -> float | None:
        return None if at_ms is None else max(at_ms - leg.created_at, 0) / SECOND

    result = leg_rows.result_of(leg)
    return replace(
        result,
        transfer=result.transfer or leg_rows.transfer_of(leg),
        carrier=leg.carrier,
        initiated_s=after(leg.initiated_at) or 0.0,
        ringing_s=after(leg.ringing_at),
        answered_s=after(leg.answered_at),
        ended_s=after(leg.ended_at) or 0.0,
        charge_id=leg.provider_call_id if tells_charges else None,
        transfer_legs=[one if tells_charges else replace(one, charge_id=None) for one in result.transfer_legs],
    )
