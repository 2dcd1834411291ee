"""Drives a deployment in rounds until it ends: reads who is due, schedules, claims and makes their calls.

The pace says how time passes: `virtual_time` jumps from call to call, `real_time` follows a clock.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from math import isfinite
from typing import Any

import anyio
from anyio import to_thread
from sqlalchemy import Connection, Row

from callwright.service.dialling import endings
from callwright.service.dialling.claims import Draft
from callwright.service.dialling.eligibility.predial import PREDIAL_UNAVAILABLE, NobodyToAsk, PredialCheck
from callwright.service.dialling.leases import fence_of
from callwright.service.dialling.queue import FIND, Rules, needs_decision, open_calls, providers_of
from callwright.service.dialling.rounds.deferral import BEFORE_ALL, PIECES, Place
from callwright.service.dialling.rounds.driver_writes import DriverWrites
from callwright.service.dialling.rounds.predial_round import PredialRound
from callwright.service.dialling.rounds.real_time import DeploymentTime, RealTime
from callwright.service.dialling.rounds.round import Held, Pace, Round, look
from callwright.service.dialling.rounds.virtual_time import VirtualTime
from callwright.service.dialling.schedule import LOOK_AHEAD, Planned, Schedule, schedule_round
from callwright.service.telephony.engine import CallRequest, EngineParts, VirtualTimeEngine
from callwright.service.telephony.registry import BROWSER, ENGINES, EngineFactory, NoEngine, factory_of

log = logging.getLogger(__name__)
NO_ENGINE = "no_call_engine"
"""The reason for pausing a deployment if no engine here can call from its numbers."""
NO_ENGINE_AGAIN_S = 5.0
"""Seconds between two checks of such a deployment while it has open calls."""


class Runner:
    """Drives one deployment until it ends, is inactive without calls under way, or the lease is lost."""

    def __init__(
        self,
        writes: DriverWrites,
        *,
        time_scale: float,
        ends: Callable[[], bool] = bool,
        engines: Mapping[str, EngineFactory] = ENGINES,
        predial: PredialCheck | None = None,
    ) -> None:
        """`time_scale` is how many times faster simulated calls are made; `ends` is true once no call may begin.

        Without `predial` nobody is dialled in a campaign that has an address to ask.
        """
        self._writes = writes
        self._time_scale = time_scale
        self._ends = ends
        self._engines = engines
        self._look_ahead = 0
        self._predial = PredialRound(predial or NobodyToAsk(), writes)

    async def drive(self, deployment_id: str) -> None:
        """Drives the deployment until there is nothing left to do now.

        Raises:
            LeaseLost: another process took over; in real time within an exception group.
        """
        rules, providers, unfinished = await self._writes.database.read(_beginning, deployment_id)
        row = rules.row
        try:
            factory = factory_of(providers, self._engines)
        except NoEngine as error:
            log.error("a deployment cannot be driven: %s", error, extra={"deployment_id": deployment_id})
            await self._writes.end(endings.pause, deployment_id, NO_ENGINE)
            if unfinished:  # they cannot be ended here, so the deployment is checked again later
                await anyio.sleep(NO_ENGINE_AGAIN_S)
            return
        async with self._pace(factory, row) as pace:
            if unfinished and not (pace.jumps and self._ends()):
                await pace.resume(rules, unfinished)
            while await self._round(pace, deployment_id):
                pass

    @asynccontextmanager
    async def _pace(self, factory: EngineFactory, row: Row[Any]) -> AsyncGenerator[Pace]:
        """The pace: virtual time if the engine supports it and `time_scale` is infinite, else real time."""
        writes = self._writes
        scale = self._time_scale if row.simulated and isfinite(self._time_scale) else 1.0
        # A simulated campaign has a clock of its own; a real one has the time of the people it calls.
        begins_ms = row.clock_ms if row.simulated else max(row.clock_ms, writes.clock.now_ms())
        time = DeploymentTime(writes.clock, begins_ms, scale)
        engine = factory(EngineParts(writes.database, writes.clock, time, fence_of(writes.owner)))
        if isinstance(engine, VirtualTimeEngine) and not isfinite(self._time_scale):
            yield VirtualTime(engine, writes)
            return
        async with anyio.create_task_group() as tasks:
            yield RealTime(engine, writes, time, tasks)

    async def _round(self, pace: Pace, deployment_id: str) -> bool:
        writes = self._writes
        if pace.jumps and self._ends():
            return False
        now_ms = writes.clock.now_ms()
        given = (deployment_id, writes.owner, pace, now_ms)
        seen = await writes.database.read(look, *given, look_ahead=self._look_ahead)
        await pace.hang_up(seen.hang_ups)
        row = seen.rules.row
        if pace.is_idle(row):
            if self._ends() or row.status != "active" or row.contact_changes:
                return False
            if seen.next_ms is None:
                return not await writes.end(endings.complete, deployment_id)
            if seen.is_past_end:
                await writes.end(endings.complete_at_end, deployment_id)
                return False
            if seen.blocked is not None:
                await writes.end(endings.pause, deployment_id, seen.blocked)
                return False
            if not seen.caller_ids:
                await writes.end(endings.fail, deployment_id, "no_phone_number")
                return False
        if needs_decision(seen.contacts):
            await writes.decide(deployment_id)
            return True
        held: Held | None = None
        if seen.contacts and not self._ends():
            schedule, drafts = await self._schedule(pace, seen)
            self._look_ahead = LOOK_AHEAD if schedule.deferred or schedule.never else 0
            if schedule.is_empty and pace.jumps:  # every call would come after the end
                await writes.end(endings.complete_at_end, deployment_id)
                return False
            held = await self._dial(pace, seen, schedule, drafts)
            if schedule.next_dial_ms is not None and _has_many_more(seen, schedule):
                await self._defer(seen.rules, schedule.next_dial_ms)
        await pace.wait(seen, held or ("busy" if seen.is_waiting else None))
        return True

    async def _defer(self, rules: Rules, at_ms: int) -> None:
        """Defers contacts who are due and may not be called at a moment, up to one who may. The next round does the
        same for those who are left, so that a hang-up or a pause does not wait long."""
        place: Place | None = BEFORE_ALL
        for _ in range(PIECES):
            if place is None or self._ends():
                return
            place = await self._writes.defer(rules, at_ms, place)

    async def _schedule(self, pace: Pace, seen: Round) -> tuple[Schedule, list[Draft]]:
        """The calls of a round and a draft of each, in the same order."""
        rules = seen.rules
        contacts = {contact.id: contact for contact in seen.contacts}
        drafts: list[Draft] = []
        from_ms = seen.dial_from_ms if pace.jumps else 0

        def lasts_ms(call: Planned) -> int:
            draft = self._draft(seen, contacts[call.contact_id], len(drafts), call.dial_ms)
            drafts.append(draft)
            return pace.lasts_ms(draft.request)

        def schedule() -> Schedule:
            return schedule_round(
                [rules.candidate(contact, contact.blocked, seen.past) for contact in seen.contacts],
                channel_free_at=seen.channel_free_at,
                last_dial_ms=rules.row.last_dial_ms,
                pace=rules.pace,
                first_free=lambda at_ms: seen.caller_ids.first_free(max(at_ms, from_ms)),
                lasts_ms=lasts_ms,
                most=seen.room,
                end_ms=rules.row.end_at,
            )

        return await to_thread.run_sync(schedule), drafts

    def _draft(self, seen: Round, contact: Row[Any], index: int, dial_ms: int) -> Draft:
        rules = seen.rules
        turn = rules.row.caller_id_index + index
        number = seen.caller_ids.choose(rules.settings.caller_id_strategy, contact, turn, dial_ms)
        seen.caller_ids.called(number, dial_ms)
        request = rules.request(
            contact,
            call_id=self._writes.ids.new("cal"),
            attempt=contact.attempts + 1,
            from_number=number.number,
            dial_ms=dial_ms,
        )
        return Draft(contact, request, number, dial_ms)

    async def _dial(self, pace: Pace, seen: Round, schedule: Schedule, drafts: Sequence[Draft]) -> Held | None:
        """Claims and makes the calls that are due and pass the pre-dial check.

        Returns why to wait a moment: other campaigns are calling those people, or the check put them off.
        """
        ready = [draft for draft in drafts if pace.is_due(draft.dial_ms)]
        if not (ready or schedule.deferred or schedule.never):
            return None
        contacts = {contact.id: contact for contact in seen.contacts}
        checked = await self._predial.passed(seen.rules, ready, schedule)
        given = (seen.rules, checked.drafts, checked.schedule, contacts)
        claimed = await self._writes.claim(*given, jumps=pace.jumps)
        dialled = [draft for draft in checked.drafts if draft.request.call_id in claimed.calls]
        if dialled:
            self._predial.forget(dialled)
            made = {draft.contact.id for draft in dialled}
            await pace.carry_out(seen.rules, dialled, schedule.only(made, seen.channel_free_at))
        if checked.is_unavailable:
            await self._writes.end(endings.pause, seen.rules.row.id, PREDIAL_UNAVAILABLE)
        if checked.is_put_off:
            return "put_off"
        return "busy" if checked.drafts and not dialled and not claimed.refused else None


def _has_many_more(seen: Round, schedule: Schedule) -> bool:
    """Whether there are probably many more contacts to defer than a round has read."""
    return len(seen.contacts) >= LOOK_AHEAD and len(schedule.deferred) * 2 >= len(seen.contacts)


def _beginning(
    connection: Connection, deployment_id: str
) -> tuple[Rules, Sequence[str], Sequence[tuple[CallRequest, Row[Any]]]]:
    """The deployment, the providers of its numbers, and the calls that another process left unfinished."""
    row: Row[Any] = connection.execute(FIND, {"id": deployment_id}).one()
    rules = Rules.of(connection, row)
    unfinished = open_calls(connection, rules) if row.in_flight else ()
    providers = [BROWSER] if row.call_type == "web" else providers_of(connection, deployment_id)
    return rules, providers, unfinished
