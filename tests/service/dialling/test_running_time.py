"""Campaigns in running time: the clock of the deployment runs a number of times as fast as the machine's."""

from datetime import timedelta
from math import inf
from pathlib import Path
from typing import Any

import anyio
import pytest

from callwright.client import Client
from callwright.client.transport import ASGITransport
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.app import running
from callwright.service.platform.clock.clock import moment
from callwright.service.settings import ServiceSettings
from tests.support.campaign_invariants import campaign_records, check_everything, check_records
from tests.support.campaigns import ONCE, call_in, only_call, people, progressed, settled, started
from tests.support.service import BASE_URL, Tenant, open_service

ORDER = ("queued", "initiated", "ringing", "in_progress", "completed")
ANSWERS: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}


def at_scale(scale: float, database_url: str, folder: Path) -> ServiceSettings:
    return ServiceSettings(data=folder, database_url=database_url, sim_time_scale=scale)


@pytest.mark.service(workers=True, settings={"sim_time_scale": 2_000.0})
async def test_a_campaign_in_running_time_keeps_every_rule(tenant: Tenant) -> None:
    policy = RetryPolicy(max_attempts=2, busy_interval_minutes=5, retry_on=["busy"])
    made = await started(tenant, people(20), max_concurrency=3, calls_per_second=0.1, retry_policy=policy)
    ended = await tenant.ended(made.id)
    assert (ended.status, ended.status_reason) == ("completed", "audience_exhausted")
    found = await campaign_records(tenant.database, made.id)
    check_everything(found, policy, lines=3, calls_per_second=0.1)


@pytest.mark.service(workers=True, settings={"sim_time_scale": 200.0})
async def test_a_slow_pace_is_kept_to_the_millisecond(tenant: Tenant) -> None:
    rows = people(12, sim_outcome="busy")
    made = await started(tenant, rows, max_concurrency=50, calls_per_second=0.1, retry_policy=ONCE)
    await tenant.ended(made.id)
    check_everything(await campaign_records(tenant.database, made.id), ONCE, lines=50, calls_per_second=0.1)


@pytest.mark.requirement("STATE-23", "EVENT-15", "EVENT-16")
@pytest.mark.service(workers=True, settings={"sim_time_scale": 40.0})
async def test_a_call_goes_through_its_states_in_order(tenant: Tenant) -> None:
    made = await started(tenant, people(1, **ANSWERS))
    seen: list[str] = []
    with anyio.fail_after(20):
        while "completed" not in seen:
            call = await only_call(tenant, made.id)
            if call is not None and call.status not in seen[-1:]:
                seen.append(call.status)
            await anyio.sleep(0.002)
    assert [ORDER.index(status) for status in seen] == sorted({ORDER.index(status) for status in seen})
    await tenant.ended(made.id)
    found = await campaign_records(tenant.database, made.id)
    (row,) = found.calls
    assert row.created_at < row.started_at < row.ringing_at < row.answered_at < row.ended_at
    assert found.deployment.completed_at >= row.ended_at
    check_everything(found, RetryPolicy())
    told = {event.type: event.created_at for event, data in found.events if data.get("call_id") == row.id}
    assert told == {"call.started": row.started_at, "call.completed": row.ended_at}


@pytest.mark.requirement("PATH-31")
@pytest.mark.service(workers=True, settings={"sim_time_scale": 4.0})
async def test_hanging_up_ends_a_call_under_way(tenant: Tenant) -> None:
    made = await started(tenant, people(1, **ANSWERS))
    under_way = await call_in(tenant, made.id, status="in_progress")
    await tenant.client.calls.hang_up(call_uuid=under_way.id)
    call = await call_in(tenant, made.id, status="completed")
    assert (call.outcome, call.ended_by, call.disposition) == ("answered", "api", "incomplete")
    transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
    assert all(turn.end_seconds <= transcript.duration_seconds + 0.001 for turn in transcript.turns)
    assert transcript.turn_count < 6
    assert (await tenant.ended(made.id)).status == "completed"
    check_everything(await campaign_records(tenant.database, made.id), RetryPolicy())


@pytest.mark.requirement("STATE-24")
@pytest.mark.service(workers=True, settings={"sim_time_scale": 4.0})
async def test_hanging_up_before_the_answer_cancels_the_call(tenant: Tenant) -> None:
    made = await started(tenant, people(1, sim_outcome="no_answer"))
    ringing = await call_in(tenant, made.id, status="ringing")
    await tenant.client.calls.hang_up(call_uuid=ringing.id)
    call = await call_in(tenant, made.id, status="completed")
    assert (call.outcome, call.ended_by, call.billed_seconds) == ("cancelled", "api", 0)
    assert (await tenant.ended(made.id)).stats.attempts == 1


@pytest.mark.requirement("STATE-07", "STATE-14")
@pytest.mark.parametrize("stop", ["pause", "cancel"])
@pytest.mark.service(workers=True, settings={"sim_time_scale": 60.0})
async def test_calls_under_way_finish_when_the_campaign_is_stopped(tenant: Tenant, stop: str) -> None:
    made = await started(tenant, people(9, **ANSWERS), max_concurrency=3)
    await progressed(tenant, made.id, attempts=3)
    await (tenant.client.deployments.pause if stop == "pause" else tenant.client.deployments.cancel)(id=made.id)
    stopped = await settled(tenant, made.id)
    assert stopped.status == {"pause": "paused", "cancel": "cancelled"}[stop]
    found = await campaign_records(tenant.database, made.id)
    assert 3 <= len(found.calls) < 9
    assert {(call.outcome, call.ended_by == "api") for call in found.calls} == {("answered", False)}
    check_records(found)
    if stop == "pause":
        await tenant.client.deployments.resume(id=made.id)
        assert (await tenant.ended(made.id)).stats.completed == 9
        check_everything(await campaign_records(tenant.database, made.id), RetryPolicy(), lines=3)


@pytest.mark.requirement("STATE-13")
@pytest.mark.service(workers=True, settings={"sim_time_scale": 300.0})
async def test_the_end_lets_calls_under_way_finish_and_expires_the_rest(tenant: Tenant) -> None:
    end_at = moment(tenant.services.clock.now_ms()).replace(microsecond=0) + timedelta(seconds=100)
    made = await started(tenant, people(30, **ANSWERS), max_concurrency=2, end_at=end_at)
    ended = await tenant.ended(made.id)
    assert (ended.status, ended.status_reason) == ("completed", "end_reached")
    assert ended.stats.expired == 30 - ended.stats.completed
    found = await campaign_records(tenant.database, made.id)
    assert all(call.created_at < end_at.timestamp() * 1_000 for call in found.calls)
    check_everything(found, RetryPolicy(), lines=2)


@pytest.mark.parametrize("scale", [60.0, inf])
async def test_a_service_that_ends_records_the_calls_under_way_and_the_next_one_goes_on(
    database_url: str, tmp_path: Path, scale: float
) -> None:
    settings = at_scale(scale, database_url, tmp_path)
    async with open_service(database_url, tmp_path, settings=settings) as tenant:
        made = await started(tenant, people(300, **ANSWERS), max_concurrency=3)
        await progressed(tenant, made.id, attempts=3)
    async with running(settings, workers=False) as service:
        left = await campaign_records(service.services.database, made.id)
        assert left.deployment.status == "active"
        assert (left.deployment.in_flight, left.deployment.lease_owner) == (0, None)
        assert {call.status for call in left.calls} == {"completed"}
        assert 3 <= len(left.calls) < 300


async def test_a_campaign_that_began_in_real_time_goes_on_in_virtual_time_within_its_channels(
    database_url: str, tmp_path: Path
) -> None:
    policy = RetryPolicy(max_attempts=2, busy_interval_minutes=5, retry_on=["busy"])
    async with open_service(database_url, tmp_path, settings=at_scale(300.0, database_url, tmp_path)) as tenant:
        made = await started(tenant, people(40), max_concurrency=4, retry_policy=policy)
        await progressed(tenant, made.id, attempts=12)
    async with running(at_scale(inf, database_url, tmp_path)) as service:
        async with Client(BASE_URL, tenant.api_key, transport=ASGITransport(app=service.asgi)) as client:
            ended = await Tenant(service, tenant.org_id, tenant.api_key, client).ended(made.id)
        assert ended.status_reason == "audience_exhausted"
        check_everything(await campaign_records(service.services.database, made.id), policy, lines=4)
