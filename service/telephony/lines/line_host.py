"""A line host: one process's share of the lines. It takes legs while it has free lines, places and carries them.

Taking is placing: a host takes no more legs than it has lines. It renews the leases of its legs; when it is gone,
another host finds them and settles them, and places none of them again.
"""

import logging
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import anyio
from anyio.abc import TaskGroup
from sqlalchemy import Connection, Row

from callwright.service.platform.clock.clock import SECOND, Clock
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.postgres.lock_waits import Locked
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.wake_signal import WakeSignal
from callwright.service.platform.worker_loop import repeat
from callwright.service.telephony.engine import CallRequest, CallResult, EarlyEnd
from callwright.service.telephony.legs import carrier_reports, leg_rows
from callwright.service.telephony.legs.carrier import (
    Carrier,
    Found,
    HangUpAsked,
    LegRequest,
    NotSent,
    QueuePlace,
    Refused,
    ToldStage,
    Unknown,
)
from callwright.service.telephony.legs.leg_results import PlacingTimes, lost, not_dialled, unconfirmed
from callwright.service.telephony.legs.leg_tokens import hash_of
from callwright.service.telephony.legs.person_calls import person_of

log = logging.getLogger(__name__)
T = TypeVar("T")
LEASE_MS = 15_000
"""How long a host may be silent before others settle its legs."""
LOOK_S = 0.2
"""Seconds between two looks for legs to take, and for calls to hang up."""
SETTLE_S = 1.0
"""Seconds between two looks for legs that have lost their host, and at each leg that is not confirmed."""
MOST_LOST = 100
"""Legs of lost hosts that one host settles at a time."""
HANG_UP_S = 10.0
"""Seconds that hanging up all calls may take at the end."""
_AGAIN_S = 0.5
MayPlace = Callable[[Connection, CallRequest, int], bool]
"""Asked in the transaction of the fence, with the time of the service: whether a claimed call may still be made."""
Heard = Callable[[Connection, CallRequest, CallResult, int], None]
"""Told what was said so far, in the transaction that keeps it, with the time of the service."""


class LineHost:
    """Carries calls on the lines of some carriers until it is cancelled."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        owner: str,
        carriers: Mapping[str, Carrier],
        *,
        lines: int,
        may_place: MayPlace,
        heard: Heard | None = None,
        ready: Mapping[str, Callable[[], bool]] | None = None,
        chosen: Mapping[str, Callable[[], Collection[str]]] | None = None,
        callers: Callable[[], Collection[str]] | None = None,
        woken: WakeSignal | None = None,
        host_url: str | None = None,
        lease_ms: int = LEASE_MS,
        times: PlacingTimes = PlacingTimes(),  # noqa: B008 - it cannot change
    ) -> None:
        """`lines` is how many calls it carries at once, `owner` the name under which it leases legs.

        Of a carrier in `chosen` it takes only the calls whose ids are returned there, of one in `ready` only while
        that returns true; `callers` are the calls that came in here. `heard` is told what is said. `woken` tells that a
        leg may be new; it looks by itself too.
        `host_url` is where carriers reach this host, if they can: its legs are opened to them there.
        """
        self._callers = callers
        self._chosen, self._ready, self._heard, self._woken = chosen or {}, ready or {}, heard, woken
        self._database, self._clock, self._owner = database, clock, owner
        self._carriers, self._lines, self._may_place, self._lease_ms = carriers, lines, may_place, lease_ms
        self._host_url, self._times = host_url, times
        self._queues: dict[str, QueuePlace] = {}
        """The places of callers of this host who wait for a line."""
        self._calls: dict[str, HangUpAsked] = {}
        """What asks each call of this host to be hung up, by call id."""
        self._settled: set[str] = set()
        """Ids of legs of other hosts that this one settles."""
        self._unknown: set[str] = set()
        """Ids of its own calls of which nobody knows whether they were placed: nobody talks in them."""
        self._takes = True
        self._none_under_way = anyio.Event()

    async def run(self) -> None:
        """Works until it is cancelled."""
        async with anyio.create_task_group() as tasks:
            renewed_s = self._lease_ms / 4 / SECOND
            tasks.start_soon(partial(repeat, self._renew, "renewing the leases of legs", every_s=renewed_s))
            tasks.start_soon(
                partial(repeat, partial(self._adopt, tasks), "looking for legs without a host", every_s=SETTLE_S)
            )
            await repeat(partial(self._look, tasks), "looking for legs", every_s=LOOK_S, signal=self._woken)

    @property
    def calls_under_way(self) -> int:
        """How many legs it has now, but for those of which nobody knows whether they were placed."""
        return len(self._calls.keys() - self._unknown)

    def has_room(self) -> bool:
        """Whether it takes one more leg."""
        return self._takes and len(self._calls) < self._lines

    async def drain(self, within_s: float) -> None:
        """Takes no more legs, and returns when its calls have ended. It hangs up those that go on after `within_s`."""
        self._takes = False
        for limit_s in (within_s, HANG_UP_S):
            with anyio.move_on_after(limit_s):
                if self.calls_under_way:
                    self._none_under_way = anyio.Event()
                    await self._none_under_way.wait()
            for asked in self._calls.values():
                asked.ask(EarlyEnd("platform", "platform_error"))

    async def _look(self, tasks: TaskGroup) -> None:
        if self._calls:
            hang_ups = await self._database.read(leg_rows.hang_ups_of, self._owner)
            for call_id, end in hang_ups.items():
                if call_id in self._calls:
                    self._calls[call_id].ask(end)
        if self._queues:
            places = await self._database.read(leg_rows.queue_places_of, self._owner)
            for call_id, queue in self._queues.items():
                queue.move(places.get(call_id, queue.place))
        room = self._lines - len(self._calls)
        if room <= 0 or not self._takes:
            return
        wanted = leg_rows.Wanted(
            [name for name in self._carriers if name not in self._chosen and self._is_ready(name)],
            [call_id for calls_of in self._of_here for call_id in calls_of()],
        )
        if not (wanted.carriers or wanted.call_ids) or not await self._database.read(leg_rows.are_new, wanted):
            return
        now_ms = self._clock.now_ms()
        given = (self._owner, wanted, room)
        taken = await self._database.write(leg_rows.take, *given, now_ms=now_ms, until_ms=now_ms + self._lease_ms)
        for leg in taken:
            if leg.call_id not in self._calls:
                self._calls[leg.call_id] = HangUpAsked()
                tasks.start_soon(self._carry, leg)

    @property
    def _of_here(self) -> list[Callable[[], Collection[str]]]:
        return [*self._chosen.values(), *([self._callers] if self._callers is not None else [])]

    def _is_ready(self, carrier: str) -> bool:
        return carrier not in self._ready or self._ready[carrier]()

    async def _renew(self) -> None:
        mine = [*self._calls, *self._settled]
        if mine:
            now_ms = self._clock.now_ms()
            given = {"now_ms": now_ms, "until_ms": now_ms + self._lease_ms}
            held = await self._database.write(leg_rows.renew, self._owner, mine, **given)
            for call_id, asked in self._calls.items():
                if call_id in mine and call_id not in held:  # another host has it by now, and hangs it up
                    asked.ask(EarlyEnd("platform", "platform_error"))

    async def _adopt(self, tasks: TaskGroup) -> None:
        room = MOST_LOST - len(self._settled)
        if room <= 0:
            return
        now_ms = self._clock.now_ms()
        if not await self._database.read(leg_rows.are_lost, self._owner, now_ms):
            return
        found = await self._database.write(
            leg_rows.take_lost, self._owner, room, now_ms=now_ms, until_ms=now_ms + self._lease_ms
        )
        for leg in found:
            if leg.call_id not in self._settled:
                self._settled.add(leg.call_id)
                tasks.start_soon(self._adopted, leg)

    async def _carry(self, leg: Row[Any]) -> None:
        """One leg from the fence to its end."""
        asked = self._calls[leg.call_id]
        try:
            await self._place_and_follow(leg, leg_rows.request_of(leg), asked)
        except Exception:
            log.exception("carrying a call failed", extra={"call_id": leg.call_id})
            await self._settle_gone(leg)
        finally:
            del self._calls[leg.call_id]
            self._queues.pop(leg.call_id, None)
            self._tell_if_none()

    async def _place_and_follow(self, leg: Row[Any], request: CallRequest, asked: HangUpAsked) -> None:
        carrier, told = self._carriers[leg.carrier], self._told(leg.call_id)
        token, before_s = secrets.token_urlsafe(24), anyio.current_time() + self._times.place_s
        transferred = partial(self._written, leg_rows.transferred, leg.call_id)
        placed = LegRequest(request, before_s, partial(self._keep, request), token, transferred, leg.provider_call_id)
        if request.answering is not None and request.answering.wait is not None:
            self._queues[leg.call_id] = placed.queue
        if not await self._written(self._fence, request, hash_of(token)):
            await self._settle_own(leg)
            return
        try:
            provider_call_id = await carrier.place(placed)
        except Refused as refused:
            log.info("a carrier refused a call: %s", refused, extra={"call_id": leg.call_id})
            await self._written(leg_rows.end, refused.result, self._clock.now_ms(), only_in=("placing", "placed"))
            return
        except NotSent as error:
            log.warning("a call was not placed: %s", error, extra={"call_id": leg.call_id})
            result = replace(not_dialled(request), warnings=(str(error),))
            await self._written(leg_rows.end, result, self._clock.now_ms(), only_in=("placing",))
            return
        except Unknown as error:
            log.warning("it is not known whether a call was placed: %s", error, extra={"call_id": leg.call_id})
            self._unknown.add(leg.call_id)
            self._tell_if_none()
            try:
                found = await self._settle(leg.call_id, request, carrier)
            finally:
                self._unknown.discard(leg.call_id)
            if found is None:
                return
            provider_call_id = found.provider_call_id
        else:
            await told("initiated", provider_call_id)
        result = await carrier.ended(placed, provider_call_id, told, asked)
        await self._written(leg_rows.end, result, self._clock.now_ms())

    def _tell_if_none(self) -> None:
        if not self.calls_under_way:
            self._none_under_way.set()

    def _fence(self, connection: Connection, request: CallRequest, token_hash: str) -> bool:
        now_ms = self._clock.now_ms()
        if not self._may_place(connection, request, now_ms):
            leg_rows.end(connection, not_dialled(request), now_ms, only_in=("new",))
            return False
        if not leg_rows.begin_placing(connection, request.call_id, self._owner, now_ms):
            return False
        if self._host_url is not None:
            carrier_reports.open_to_carrier(connection, request.call_id, token_hash, self._host_url)
        return True

    async def _keep(self, request: CallRequest, so_far: CallResult) -> None:
        await self._written(self._kept, request, so_far)

    def _kept(self, connection: Connection, request: CallRequest, so_far: CallResult) -> None:
        leg_rows.keep(connection, so_far)
        if self._heard is not None:  # it counts whoever has the leg by now
            self._heard(connection, request, so_far, self._clock.now_ms())

    def _told(self, call_id: str) -> ToldStage:
        async def told(stage: leg_rows.LegStage, provider_call_id: str | None = None) -> None:
            at_ms = self._clock.now_ms()
            await self._written(leg_rows.reached, call_id, stage, at_ms, provider_call_id=provider_call_id)

        return told

    async def _adopted(self, leg: Row[Any]) -> None:
        try:
            # Its host renewed the lease for the last time this long ago; the sound ended with the host.
            await self._settle_gone(leg, seen_ms=leg.lease_until - self._lease_ms)
        finally:
            self._settled.discard(leg.call_id)

    async def _settle_own(self, leg: Row[Any]) -> None:
        """Settles a leg that passed the fence although the answer of the database to that was lost."""
        now, _ = await self._written(_leg_and_age, leg.call_id, self._clock.now_ms())
        if now is not None and now.lease_owner == self._owner:
            await self._settle_gone(leg)

    async def _settle_gone(self, leg: Row[Any], *, seen_ms: int | None = None) -> None:
        """Settles a leg that no host follows. Its sound is gone, so a call that was placed is hung up.

        `seen_ms` is when its host was last seen; None: now.
        """
        request, carrier = leg_rows.request_of(leg), self._carriers.get(leg.carrier)
        if await self._settle(leg.call_id, request, carrier) is not None:
            await self._end_lost(leg.call_id, request, carrier, self._clock.now_ms() if seen_ms is None else seen_ms)

    async def _settle(self, call_id: str, request: CallRequest, carrier: Carrier | None) -> Row[Any] | None:
        """Waits until it is known whether a leg was placed: the leg if it was and goes on, None once it has ended."""
        lists_calls = carrier is not None and carrier.lists_calls
        looked_for_s = self._times.is_listed_after_s() if lists_calls else self._times.place_s
        over_s = self._times.over_after_s(request, unheard_ends=carrier is not None and carrier.unheard_ends)
        while True:
            leg, age_ms = await self._written(_leg_and_age, call_id, self._clock.now_ms())
            if leg is None or leg.state == "ended":
                return None
            if leg.state == "placed":
                return leg
            if not request.rings_telephone and leg.provider_call_id is not None and leg.state == "placing":
                await self._told(call_id)("initiated", leg.provider_call_id)  # it came in under this id
                continue
            if not request.rings_telephone:  # nobody was called, and whoever came is gone with their host
                result = lost(request, None, is_answered=False)
                await self._written(leg_rows.end, result, self._clock.now_ms(), only_in=("placing", "unconfirmed"))
                continue
            if leg.state == "placing" and carrier is not None and carrier.lists_calls:
                found = await _found(carrier, request, placing_ms=leg.placing_at)
                if found.what == "one":
                    await self._told(call_id)("initiated", found.provider_call_id)
                    continue
            if leg.state == "placing" and age_ms > looked_for_s * SECOND:
                await self._written(leg_rows.not_confirmed, call_id)
            if age_ms > over_s * SECOND:
                states: tuple[leg_rows.LegState, ...] = ("placing", "unconfirmed")
                await self._written(leg_rows.end, unconfirmed(request), self._clock.now_ms(), only_in=states)
                return None
            await anyio.sleep(SETTLE_S)

    async def _end_lost(self, call_id: str, request: CallRequest, carrier: Carrier | None, seen_ms: int) -> None:
        while True:
            leg, age_ms = await self._written(_leg_and_age, call_id, self._clock.now_ms())
            if leg is None or leg.state == "ended":
                return
            is_over = age_ms > self._times.over_after_s(request) * SECOND
            if carrier is not None and leg.provider_call_id is not None and not is_over:
                try:
                    await carrier.hang_up(leg.provider_call_id)
                    if (person := person_of(leg.person_call)) is not None and person.provider_call_id is not None:
                        await carrier.hang_up(person.provider_call_id)  # whoever was to take the call over is alone
                    is_over = True
                except Exception as error:
                    log.warning("a carrier did not hang up: %s", type(error).__name__, extra={"call_id": call_id})
            if is_over:
                so_far = leg_rows.so_far_of(leg)
                is_answered, transfer = leg.answered_at is not None, leg_rows.transfer_of(leg)
                result = lost(request, so_far, is_answered=is_answered, transfer=transfer, waits=bool(leg.queue_place))
                ended_ms = max(min(seen_ms, self._clock.now_ms()), _last_known_ms(leg, so_far))
                await self._written(leg_rows.end, result, ended_ms)
                return
            await anyio.sleep(SETTLE_S)

    async def _written(self, work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Writes, however long the database is not there: what happened on a line must not be lost."""
        while True:
            try:
                return await self._database.write(work, *args, **kwargs)
            except (StorageUnavailable, Locked):
                await anyio.sleep(_AGAIN_S)


async def _found(carrier: Carrier, request: CallRequest, *, placing_ms: int) -> Found:
    """What the carrier's list shows of a leg. A list that cannot be read shows nothing; it is looked at again."""
    try:
        with anyio.move_on_after(SETTLE_S * 4):
            return await carrier.find(request, placing_ms=placing_ms)
    except Exception as error:
        name = type(error).__name__
        log.warning("a carrier's list of calls could not be read: %s", name, extra={"call_id": request.call_id})
    return Found("none")


def _last_known_ms(leg: Row[Any], so_far: CallResult | None) -> int:
    """The last moment of which something is known: what was said last, or that a person was on the line, or else the
    stage that was reached."""
    if leg.answered_at is None:
        return leg.ringing_at or leg.created_at
    known = (
        [] if so_far is None else [one.end_s for one in so_far.turns] + [one.ended_s for one in so_far.transfer_legs]
    )
    return leg.answered_at + round(max(known, default=0.0) * SECOND)


def _leg_and_age(connection: Connection, call_id: str, now_ms: int) -> tuple[Row[Any] | None, int]:
    """A leg, and how long ago it began to be placed."""
    leg = leg_rows.find(connection, call_id)
    if leg is None or leg.placing_at is None:
        return None, 0
    return leg, leg_rows.age_ms(connection, leg, now_ms)
