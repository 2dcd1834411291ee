"""A carrier of tests that does what the last digits of a number say, and lines that carry calls on it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import anyio

from callwright.contract.calls.calls import Outcome
from callwright.service.dialling.heard_opt_outs import list_at_once
from callwright.service.dialling.rounds.driver_writes import DriverWrites
from callwright.service.dialling.rounds.runner import Runner
from callwright.service.dialling.rounds.undialled_calls import may_place
from callwright.service.rules.cost_items import Used
from callwright.service.rules.prices.transfer_prices import TransferLeg
from callwright.service.telephony.engine import CallRequest, CallResult, HangupCause, Turn
from callwright.service.telephony.legs.carrier import (
    Carrier,
    Charge,
    Found,
    HangUpAsked,
    LegRequest,
    NotSent,
    Refused,
    ToldStage,
    Unknown,
)
from callwright.service.telephony.legs.line_engine import LineEngine
from callwright.service.telephony.lines.line_host import LEASE_MS, LineHost
from tests.support.campaigns import lease
from tests.support.service import Tenant


@dataclass
class ScriptedCarrier:
    """Answers, unless `script` has another word for the number: `busy`, `refused`, `not_sent`, `unknown`, `lost` (the
    answer, and the list does not show it), `unlistable` (the answer, and the list cannot be read), `listed` (the
    answer, and the list shows it), `rings` (for long), `long` (talks), `stop` (asks not to be called again, and talks
    on), `fails`."""

    script: dict[str, str] = field(default_factory=dict[str, str])
    placed: list[str] = field(default_factory=list[str])
    """The number of each request that came."""
    hung_up: list[str] = field(default_factory=list[str])
    charges: dict[str, Charge] = field(default_factory=dict[str, Charge])
    """What it says that it charged, by its id of the call; of others it does not know yet."""
    charge_fails: bool = False
    asked_for: list[str] = field(default_factory=list[str])
    talk_s: float = 0.0
    """Seconds that each call lasts that is answered."""
    used: tuple[Used, ...] = ()
    """What each call that is answered uses of services."""
    persons: dict[str, tuple[TransferLeg, ...]] = field(default_factory=dict[str, tuple[TransferLeg, ...]])
    """The calls to persons that are made in a call to a number."""
    kept: anyio.Event = field(default_factory=anyio.Event)
    """What somebody said was kept."""
    asked: anyio.Event = field(default_factory=anyio.Event)
    """A request came."""
    name: str = "scripted"
    lists_calls: bool = True
    unheard_ends: bool = False

    async def place(self, leg: LegRequest) -> str | None:
        leg.check_in_time()
        word = self.script.get(leg.call.to, "")
        if word == "not_sent":
            self.script.pop(leg.call.to)  # the next attempt is sent
            raise NotSent("no connection")
        self.placed.append(leg.call.to)
        self.asked.set()
        if word == "refused":
            raise Refused("403", self._result(leg, "failed", "carrier_rejected"))
        if word in ("lost", "listed", "unlistable"):
            raise Unknown("timeout")
        if word == "fails":
            raise RuntimeError("a mistake in the carrier's code")
        return f"CA{len(self.placed)}"

    async def ended(
        self, leg: LegRequest, provider_call_id: str | None, told: ToldStage, hang_up: HangUpAsked
    ) -> CallResult:
        word = self.script.get(leg.call.to, "")
        if word == "busy":
            return self._result(leg, "busy", "user_busy")
        await told("ringing", provider_call_id)
        if word == "rings":
            await hang_up.wait()
            return self._result(leg, "no_answer", "originator_cancel")
        await told("answered", provider_call_id)
        if word == "stop":
            await leg.keep(_asked_to_stop(leg))
            self.kept.set()
        if word in ("long", "stop"):
            await hang_up.wait()
            return CallResult(
                call_id=leg.call.call_id,
                outcome="answered",
                disposition="incomplete",
                hangup_cause=hang_up.end.cause,
                ended_by=hang_up.end.ended_by,
            )
        await anyio.sleep(self.talk_s)
        said = Turn(0, "contact", "Yes, that suits me.", 0.2, 1.0, "en-US", "stt")
        return CallResult(
            call_id=leg.call.call_id,
            outcome="answered",
            disposition="do_not_call" if word == "opt_out" else "goal_met",
            hangup_cause="contact_hangup",
            ended_by="contact",
            answered_by="human",
            turns=(said,),
            used=self.used,
            transfer_legs=self.persons.get(leg.call.to, ()),
        )

    async def find(self, call: CallRequest, *, placing_ms: int) -> Found:
        if self.script.get(call.to) == "unlistable":
            raise RuntimeError("500")
        return Found("one", "CA_found") if self.script.get(call.to) == "listed" else Found("none")

    async def hang_up(self, provider_call_id: str) -> None:
        self.hung_up.append(provider_call_id)

    async def charge_of(self, provider_call_id: str) -> Charge | None:
        self.asked_for.append(provider_call_id)
        if self.charge_fails:
            raise RuntimeError("500")
        return self.charges.get(provider_call_id)

    def _result(self, leg: LegRequest, outcome: Outcome, cause: HangupCause) -> CallResult:
        return CallResult(call_id=leg.call.call_id, outcome=outcome, hangup_cause=cause, ended_by="carrier")


def _asked_to_stop(leg: LegRequest) -> CallResult:
    """What is known of a call in which the person has asked not to be called again, and which goes on."""
    said = Turn(0, "contact", "Please stop calling me.", 0.5, 2.0, "en-US", "stt")
    return CallResult(
        call_id=leg.call.call_id,
        outcome="answered",
        hangup_cause="platform_error",
        ended_by="platform",
        turns=(said,),
    )


def host_of(
    tenant: Tenant,
    carrier: Carrier,
    *,
    name: str = "hst_1",
    lines: int = 8,
    lease_ms: int = LEASE_MS,
    is_ready: Callable[[], bool] | None = None,
) -> LineHost:
    """A line host of a service, which takes calls while the carrier is ready."""
    services = tenant.services
    return LineHost(
        services.database,
        services.clock,
        name,
        {carrier.name: carrier},
        lines=lines,
        may_place=may_place,
        heard=partial(list_at_once, services.ids),
        ready={} if is_ready is None else {carrier.name: is_ready},
        lease_ms=lease_ms,
    )


@asynccontextmanager
async def lines_of(
    tenant: Tenant, carrier: ScriptedCarrier, *, name: str = "hst_1", lines: int = 8
) -> AsyncGenerator[LineHost]:
    """A line host that works until the block ends."""
    host = host_of(tenant, carrier, name=name, lines=lines, lease_ms=1_000)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(host.run)
        yield host
        tasks.cancel_scope.cancel()


async def driven_on_lines(
    tenant: Tenant,
    deployment_id: str,
    *,
    owner: str = "wrk_lines",
    within_s: float = 60.0,
    ends: Callable[[], bool] = bool,
) -> None:
    """Drives a campaign on the lines of the scripted carrier until it has nothing left to do now.

    With `ends`, until that is true and no call goes on.
    """
    services = tenant.services
    await lease(tenant, deployment_id, owner)
    writes = DriverWrites(
        database=services.database, clock=services.clock, ids=services.ids, owner=owner, lease_ms=60_000
    )
    engine = partial(LineEngine, carrier="scripted", tells_charges=True)
    engines = {"simulated": engine, "scripted": engine}
    with anyio.fail_after(within_s):
        await Runner(writes, time_scale=1.0, ends=ends, engines=engines).drive(deployment_id)
