"""A call that lasts is paid for minute by minute, and ends when neither budget nor wallet has the next minute."""

from math import inf
from typing import Any

import anyio
import pytest

from callwright.contract.declaration.field_types import Spend
from callwright.service.dialling.limits.coverage import Funds, Held, KnownCall, cover
from callwright.service.dialling.rounds.driver_writes import DriverWrites
from callwright.service.dialling.rounds.runner import Runner
from callwright.service.telephony.engine import AgentSnapshot, CallRequest, CallResult
from callwright.service.telephony.simulated.engine import SimulatedEngine
from tests.support.campaign_invariants import CampaignRecords, campaign_records, check_counters
from tests.support.campaigns import lease, leave_in_wallet, people, started
from tests.support.prices import US
from tests.support.service import Tenant

MINUTE = US.minute
TALKS_S = 270
UNHURRIED = 150.0
"""How many times faster than real time calls are made where they take time."""


class LongCalls(SimulatedEngine):
    """A network on which everybody answers after three seconds and talks for nearly five minutes."""

    def simulate(self, request: CallRequest) -> CallResult:
        return _talk(request, TALKS_S)


def _talk(request: CallRequest, seconds: float) -> CallResult:
    return CallResult(
        call_id=request.call_id,
        outcome="answered",
        disposition="goal_met",
        hangup_cause="normal_clearing",
        ended_by="agent",
        answered_by="human",
        initiated_s=1.0,
        ringing_s=2.0,
        answered_s=3.0,
        ended_s=3.0 + seconds,
    )


async def driven(tenant: Tenant, time_scale: float, wallet_micros: int | None = None, **fields: Any) -> CampaignRecords:
    """What a campaign of three people on one line leaves, whose calls last long."""
    made = await started(tenant, people(3), max_concurrency=1, **fields)
    if wallet_micros is not None:
        await leave_in_wallet(tenant, wallet_micros)
    await lease(tenant, made.id, "wrk_test")
    given = tenant.services
    writes = DriverWrites(database=given.database, clock=given.clock, ids=given.ids, owner="wrk_test", lease_ms=60_000)
    with anyio.fail_after(60):
        await Runner(writes, time_scale=time_scale, engines={"simulated": LongCalls}).drive(made.id)
    return await campaign_records(given.database, made.id)


def ended(found: CampaignRecords) -> list[tuple[int, int, str, str]]:
    """Seconds, cost and end of each call."""
    return [(call.billed_seconds, call.cost_micros, call.hangup_cause, call.ended_by) for call in found.calls]


@pytest.mark.requirement("WALLET-04")
@pytest.mark.parametrize("time_scale", [inf, UNHURRIED])
async def test_a_call_ends_when_the_budget_does_not_have_its_next_minute(tenant: Tenant, time_scale: float) -> None:
    found = await driven(tenant, time_scale, budget_cap=Spend(amount="0.040"))
    assert ended(found) == [(180, 3 * MINUTE, "budget_reached", "platform")]
    assert (found.deployment.status, found.deployment.status_reason) == ("paused", "budget_reached")
    assert (found.deployment.spend_micros, found.wallet.reserved_micros) == (3 * MINUTE, 0)
    check_counters(found)


@pytest.mark.requirement("WALLET-04")
@pytest.mark.parametrize("time_scale", [inf, UNHURRIED])
async def test_a_call_ends_when_the_wallet_does_not_have_its_next_minute(tenant: Tenant, time_scale: float) -> None:
    found = await driven(tenant, time_scale, wallet_micros=8 * MINUTE)
    assert ended(found) == [
        (TALKS_S, US.call(TALKS_S), "normal_clearing", "agent"),
        (180, 3 * MINUTE, "insufficient_credits", "platform"),
    ]
    assert (found.deployment.status, found.deployment.status_reason) == ("paused", "insufficient_credits")
    assert found.wallet.balance_micros == 5 * MINUTE - US.call(TALKS_S)
    check_counters(found)


@pytest.mark.requirement("WALLET-04")
@pytest.mark.parametrize("time_scale", [inf, UNHURRIED])
async def test_a_call_that_is_covered_to_its_end_is_left_alone_and_nothing_stays_held_back(
    tenant: Tenant, time_scale: float
) -> None:
    found = await driven(tenant, time_scale)
    assert ended(found) == [(TALKS_S, US.call(TALKS_S), "normal_clearing", "agent")] * 3
    assert found.wallet.reserved_micros == found.deployment.reserved_micros == 0
    listed = tenant.client.wallet.list_transactions(type=["reservation", "reservation_release"])
    held = [entry async for entry in listed]
    amounts = [round(float(entry.amount.amount) * 1_000_000) for entry in held]
    assert (sum(amounts), min(amounts) < 0) == (0, True)
    assert sum(amount for amount in amounts if amount > 0) == 3 * 5 * MINUTE


def _known(talks_s: float, dial_ms: int, call_id: str) -> KnownCall:
    agent = AgentSnapshot("agt_1", "", "", "en", "v")
    request = CallRequest(
        call_id=call_id,
        org_id="org_1",
        deployment_id="dep_1",
        contact_id=call_id,
        attempt=1,
        to="+14155550100",
        from_="+12125550100",
        agent=agent,
        variables={},
    )
    return KnownCall(request, _talk(request, talks_s), dial_ms)


def test_of_two_calls_the_one_that_asks_first_gets_the_last_minute() -> None:
    known = [_known(170, 1_000, "late"), _known(170, 0, "early")]
    held = {one.request.call_id: Held(US.held_back, US) for one in known}
    covered = cover(known, held, Funds(None, MINUTE))
    assert [result.hangup_cause for result in covered.results] == ["insufficient_credits", "normal_clearing"]
    assert [result.duration_s for result in covered.results] == [120, 170]
    assert [one.micros for one in covered.held] == [2 * MINUTE, 3 * MINUTE]


def test_what_a_short_call_gives_back_covers_a_minute_of_a_longer_one() -> None:
    known = [_known(30, 0, "short"), _known(170, 0, "long")]
    held = {one.request.call_id: Held(US.held_back, US) for one in known}
    covered = cover(known, held, Funds(0, 0))
    assert [result.hangup_cause for result in covered.results] == ["normal_clearing"] * 2
