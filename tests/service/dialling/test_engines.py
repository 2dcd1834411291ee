"""A second engine beside the simulated network: the dialler knows it by nothing but its four methods and one line."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import anyio
import pytest
from sqlalchemy import update

from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.dialling.rounds.driver_writes import DriverWrites
from callwright.service.dialling.rounds.runner import Runner
from callwright.service.tables.schema import phone_numbers
from callwright.service.telephony.engine import (
    CallProgress,
    CallRequest,
    CallResult,
    EarlyEnd,
    EngineParts,
    Report,
    Turn,
)
from callwright.service.telephony.registry import ENGINES, EngineFactory, NoEngine, factory_of
from tests.support.campaign_invariants import campaign_records, check_counters
from tests.support.campaigns import lease, people, started
from tests.support.service import Tenant


@dataclass
class ToyEngine:
    """Answers every second call after two seconds of ringing, and says one sentence."""

    parts: EngineParts
    heard: list[CallRequest] = field(default_factory=list[CallRequest])

    async def run(self, request: CallRequest, report: Report, *, dial_ms: int) -> CallResult:
        self.heard.append(request)
        answers = len(self.heard) % 2 == 1
        await report(CallProgress(request.call_id, "initiated", dial_ms))
        await self.parts.timeline.until(dial_ms + 2_000)
        if answers:
            await report(CallProgress(request.call_id, "answered", dial_ms + 2_000))
            await self.parts.timeline.until(dial_ms + 5_000)
        return CallResult(
            call_id=request.call_id,
            outcome="answered" if answers else "busy",
            disposition="goal_met" if answers else None,
            hangup_cause="normal_clearing" if answers else "user_busy",
            ended_by="agent" if answers else "carrier",
            answered_by="human" if answers else None,
            initiated_s=0.0,
            ringing_s=None,
            answered_s=2.0 if answers else None,
            ended_s=5.0 if answers else 2.0,
            turns=[Turn(0, "agent", "Good morning.", 0.0, 1.5, "en")] if answers else (),
        )

    async def hang_up(self, call_id: str, end: EarlyEnd | None = None) -> None:
        """Calls of three seconds end by themselves."""


def runner_with(tenant: Tenant, engines: Mapping[str, EngineFactory]) -> Runner:
    services = tenant.services
    writes = DriverWrites(
        database=services.database, clock=services.clock, ids=services.ids, owner="wrk_toy", lease_ms=60_000
    )
    return Runner(writes, time_scale=2_000.0, engines={**ENGINES, **engines})


async def provided_by(tenant: Tenant, provider: str) -> None:
    """Has every number come from another provider."""
    change = update(phone_numbers).values(provider=provider)
    await tenant.database.write(lambda connection: connection.execute(change).rowcount)


async def test_a_toy_engine_drives_a_whole_campaign_and_hears_its_caller_id(tenant: Tenant) -> None:
    policy = RetryPolicy(max_attempts=2, busy_interval_minutes=5, retry_on=["busy"])
    made = await started(tenant, people(6), retry_policy=policy, calls_per_second=1.0)
    await provided_by(tenant, "toy")
    await lease(tenant, made.id, "wrk_toy")
    engines: list[ToyEngine] = []

    def toy(parts: EngineParts) -> ToyEngine:
        engines.append(ToyEngine(parts))
        return engines[-1]

    with anyio.fail_after(30):
        await runner_with(tenant, {"toy": toy}).drive(made.id)
    ended = await tenant.client.deployments.get(id=made.id)
    found = await campaign_records(tenant.database, made.id)
    numbers = {number.number for number in (await tenant.client.phone_numbers.list()).data}
    (engine,) = engines
    assert (ended.status, ended.status_reason) == ("completed", "audience_exhausted")
    assert {request.from_ for request in engine.heard} <= numbers
    assert {(request.call_id, request.from_, request.to) for request in engine.heard} == {
        (call.id, call.from_number, call.to_number) for call in found.calls
    }
    assert ended.stats.answered == sum(call.outcome == "answered" for call in found.calls) >= 3
    assert not found.dials  # the simulated network was asked for nothing
    check_counters(found)


async def test_a_deployment_whose_numbers_nothing_here_calls_from_is_paused_and_nobody_is_called(
    tenant: Tenant,
) -> None:
    made = await started(tenant, people(3))
    await provided_by(tenant, "elsewhere")
    await lease(tenant, made.id, "wrk_toy")
    await runner_with(tenant, {}).drive(made.id)
    paused = await tenant.client.deployments.get(id=made.id)
    assert (paused.status, paused.status_reason, paused.stats.attempts) == ("paused", "no_call_engine", 0)


@pytest.mark.parametrize("providers", [[], ["elsewhere"], ["elsewhere", "simulated"]])
def test_numbers_without_one_engine_are_refused(providers: list[str]) -> None:
    with pytest.raises(NoEngine):
        factory_of(providers)
