"""Pause, resume, cancel, the end of a deployment, its scheduled start."""

from collections import Counter
from datetime import datetime, timedelta
from math import inf
from pathlib import Path

import anyio
import pytest

from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.platform.clock.clock import DAY, milliseconds, moment
from callwright.service.settings import ServiceSettings
from tests.support.campaign_invariants import (
    campaign_records,
    check_counters,
    check_dialled_once,
    check_everything,
    check_money,
    check_policy,
    check_records,
)
from tests.support.campaigns import (
    ONCE,
    claim_and_die,
    dial_and_die,
    draft,
    driver_of,
    ended_by_workers,
    expire_leases,
    lease,
    leave_in_wallet,
    make_audience,
    people,
    progressed,
    run,
    settled,
    started,
    suspend_numbers,
    working,
)
from tests.support.deployments.plans import make_real, nobody_is_called, plan_of
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service
from tests.support.tasks import tasks_within


def in_minutes(tenant: Tenant, minutes: int) -> datetime:
    """A whole second, so many minutes from now."""
    return moment(tenant.services.clock.now_ms()).replace(microsecond=0) + timedelta(minutes=minutes)


@pytest.mark.requirement("STATE-07", "STATE-11")
@pytest.mark.service(workers=True)
async def test_a_pause_keeps_the_queue_and_a_resume_goes_on(tenant: Tenant) -> None:
    made = await draft(tenant, people(80), max_concurrency=1)
    deployments, database = tenant.client.deployments, tenant.database
    await deployments.start(id=made.id)
    await progressed(tenant, made.id, attempts=10)
    await deployments.pause(id=made.id)
    paused = await settled(tenant, made.id)
    assert (paused.status, paused.status_reason, paused.stats.in_flight) == ("paused", "manual", 0)
    assert paused.stats.pending + paused.stats.retry_waiting > 0
    before = await campaign_records(database, made.id)
    check_dialled_once(before)
    check_counters(before)

    await deployments.resume(id=made.id)
    ended = await tenant.ended(made.id)
    assert (ended.status, ended.started_at) == ("completed", paused.started_at)
    found = await campaign_records(database, made.id)
    check_everything(found, RetryPolicy(), lines=1)
    assert Counter(found.names()) == {
        "deployment.started": 1,
        "deployment.paused": 1,
        "deployment.resumed": 1,
        "deployment.audience_exhausted": 1,
        "deployment.completed": 1,
    }


@pytest.mark.requirement("STATE-07")
async def test_nothing_is_dialled_while_a_deployment_is_paused(tenant: Tenant) -> None:
    made = await started(tenant, people(5))
    await tenant.client.deployments.pause(id=made.id)
    other = await started(tenant, people(5), "Another")
    await ended_by_workers(tenant, other.id)
    found = await campaign_records(tenant.database, made.id)
    assert (found.calls, found.deployment.status) == ([], "paused")
    assert {contact.status for contact in found.contacts} == {"pending"}


@pytest.mark.requirement("STATE-14")
@pytest.mark.service(workers=True)
async def test_a_cancel_drops_what_is_pending_and_says_so_once(tenant: Tenant) -> None:
    made = await started(tenant, people(150, sim_outcome="busy"), max_concurrency=1)
    await progressed(tenant, made.id, attempts=10)
    await tenant.client.deployments.cancel(id=made.id)
    ended = await settled(tenant, made.id)
    assert (ended.status, ended.stats.pending, ended.stats.retry_waiting) == ("cancelled", 0, 0)
    assert 0 < ended.stats.cancelled <= 150
    found = await campaign_records(tenant.database, made.id)
    assert {contact.next_at for contact in found.contacts} == {None}
    check_dialled_once(found)
    check_counters(found)
    check_money(found)
    check_records(found)
    assert Counter(found.names()) == {"deployment.started": 1, "deployment.completed": 1}


@pytest.mark.requirement("STATE-14")
async def test_a_call_under_way_when_its_deployment_is_cancelled_ends_as_usual(tenant: Tenant) -> None:
    made = await started(tenant, people(1, sim_outcome="busy"))
    await dial_and_die(tenant, made.id)
    assert (await tenant.client.deployments.get(id=made.id)).stats.in_flight == 1
    await expire_leases(tenant)
    await tenant.client.deployments.cancel(id=made.id)
    async with working(tenant):
        ended = await settled(tenant, made.id)
    assert (ended.status, ended.stats.cancelled, ended.stats.attempts) == ("cancelled", 1, 1)
    found = await campaign_records(tenant.database, made.id)
    assert found.calls[0].outcome == "busy"
    check_dialled_once(found)
    check_counters(found)
    check_money(found)


@pytest.mark.requirement("STATE-13")
@pytest.mark.service(workers=True)
async def test_the_end_expires_whoever_was_not_reached(tenant: Tenant) -> None:
    end_at = in_minutes(tenant, 10)
    rows = people(50, sim_outcome="busy")
    ended = await run(tenant, rows, calls_per_second=0.1, end_at=end_at)
    assert (ended.status, ended.status_reason) == ("completed", "end_reached")
    assert (ended.stats.expired, ended.stats.pending, ended.stats.retry_waiting) == (50, 0, 0)
    found = await campaign_records(tenant.database, ended.id)
    end_ms = milliseconds(end_at)
    assert 50 <= len(found.calls) <= 60
    assert all(call.created_at < end_ms for call in found.calls)
    assert found.deployment.completed_at >= end_ms
    assert {(one.status_reason, one.attempts > 0) for one in found.contacts} == {("campaign_ended", True)}
    check_everything(found, RetryPolicy(), calls_per_second=0.1)
    assert Counter(found.names()) == {"deployment.started": 1, "deployment.completed": 1}


@pytest.mark.service(workers=True)
async def test_the_end_comes_before_some_were_called_at_all(tenant: Tenant) -> None:
    end_at = in_minutes(tenant, 5)
    ended = await run(tenant, people(50, sim_outcome="answered", sim_intent="yes"), calls_per_second=0.1, end_at=end_at)
    assert ended.status_reason == "end_reached"
    assert ended.stats.expired == 50 - ended.stats.attempts > 0
    expired = tenant.client.deployments.list_contacts(id=ended.id, status=["expired"], per_page=200)
    assert {one.status_reason async for one in expired} == {"campaign_ended"}
    check_counters(await campaign_records(tenant.database, ended.id))


@pytest.mark.requirement("STATE-05")
@pytest.mark.service(workers=True)
async def test_a_scheduled_deployment_dials_from_its_start_on(tenant: Tenant) -> None:
    start_ms = tenant.services.clock.now_ms() // 1_000 * 1_000 + 2 * DAY
    made = await draft(tenant, people(20), start_at=moment(start_ms))
    jumped = await tenant.client.deployments.start(id=made.id, jump_clock=True)
    assert (jumped.status, jumped.clock) == ("active", moment(start_ms))
    ended = await tenant.ended(made.id)
    assert ended.started_at == moment(start_ms)
    found = await campaign_records(tenant.database, made.id)
    assert found.calls[0].created_at == start_ms
    check_everything(found, RetryPolicy())


@pytest.mark.parametrize("scale", [inf, 100.0])
async def test_a_simulated_deployment_waits_for_its_start(scale: float, database_url: str, tmp_path: Path) -> None:
    settings = ServiceSettings(data=tmp_path, database_url=database_url, sim_time_scale=scale)
    async with open_service(database_url, tmp_path, settings=settings) as tenant:
        now_ms = tenant.services.clock.now_ms()
        far = await draft(tenant, people(1), "far", start_at=moment(now_ms + 2 * DAY))
        seen = await tenant.client.deployments.preview(id=far.id)
        assert (seen.next_call_at, seen.problems) == (far.start_at, [])
        assert any("jump_clock" in said for said in seen.warnings)
        assert (await tenant.client.deployments.start(id=far.id, plan_id=seen.plan_id)).status == "scheduled"
        soon = await draft(tenant, people(1, first=1), "soon", start_at=moment(now_ms + 2_000), retry_policy=ONCE)
        assert (await tenant.client.deployments.start(id=soon.id)).status == "scheduled"
        ended = await tenant.ended(soon.id)
        assert soon.start_at is not None
        assert ended.started_at is not None
        assert ended.started_at >= soon.start_at
        waits = await tenant.client.deployments.get(id=far.id)
        assert (waits.status, waits.stats.attempts) == ("scheduled", 0)


@pytest.mark.requirement("RES-24")
async def test_a_clock_jumps_for_who_is_scheduled_or_paused_before_the_start_too(tenant: Tenant) -> None:
    client, ahead = (
        tenant.client.deployments,
        moment(tenant.services.clock.now_ms() // 1_000 * 1_000 + 2 * DAY),
    )
    scheduled = await draft(tenant, people(1), "scheduled", start_at=ahead, auto_start=True)
    paused = await draft(tenant, people(1), "paused", start_at=ahead, auto_start=True)
    await client.pause(id=paused.id)
    assert (await client.start(id=scheduled.id, jump_clock=True)).clock == ahead
    assert (await client.resume(id=paused.id, jump_clock=True)).clock == ahead
    at_once = await draft(tenant, people(1), "at once")
    assert (await client.start(id=at_once.id, jump_clock=True)).clock != ahead


@pytest.mark.requirement("RES-24")
async def test_no_clock_jumps_where_telephones_ring_or_people_call_in(tenant: Tenant) -> None:
    made = await draft(tenant, people(1), start_at=moment(tenant.services.clock.now_ms() + DAY))
    await make_real(tenant, made.id)
    async with refusal(400, "invalid_field", "jump_clock"):
        await tenant.client.deployments.start(id=made.id, plan_id=await plan_of(tenant, made.id), jump_clock=True)
    assert await nobody_is_called(tenant, made.id)


@pytest.mark.requirement("STATE-06")
async def test_a_scheduled_deployment_that_may_not_start_is_paused_with_the_reason(tenant: Tenant) -> None:
    start_at = moment(tenant.services.clock.now_ms() + 4_000)
    made = await draft(tenant, people(3), start_at=start_at, auto_start=True)
    await leave_in_wallet(tenant, 1_000)
    paused = await ended_by_workers(tenant, made.id)
    assert (paused.status, paused.status_reason) == ("paused", "insufficient_credits")
    found = await campaign_records(tenant.database, made.id)
    assert (found.contacts, found.names()) == ([], ["deployment.paused"])


@pytest.mark.requirement("STATE-15")
async def test_a_deployment_whose_numbers_are_all_lost_fails(tenant: Tenant) -> None:
    made = await started(tenant, people(3))
    await suspend_numbers(tenant)
    ended = await ended_by_workers(tenant, made.id)
    assert (ended.status, ended.status_reason, ended.stats.attempts) == ("failed", "no_phone_number", 0)


async def test_two_deployments_of_one_audience_each_call_everybody(tenant: Tenant) -> None:
    audience = await make_audience(tenant, people(40))
    made = [await draft(tenant, [], name, audience_id=audience.id, retry_policy=ONCE) for name in ("A", "B", "C")]
    for one in made:
        await tenant.client.deployments.start(id=one.id)
    async with working(tenant):
        ended = [await tenant.ended(one.id) for one in made]
    assert [one.stats.attempts for one in ended] == [40, 40, 40]
    for one in made:
        found = await campaign_records(tenant.database, one.id)
        check_dialled_once(found)
        check_policy(found, ONCE)
        check_counters(found)
        check_money(found)
        check_records(found)


@pytest.mark.requirement("STATE-30")
async def test_a_number_in_a_call_of_one_deployment_waits_in_another(tenant: Tenant) -> None:
    audience = await make_audience(tenant, people(1, sim_outcome="answered"))
    first, second = [await draft(tenant, [], name, audience_id=audience.id) for name in ("A", "B")]
    for one in (first, second):
        await tenant.client.deployments.start(id=one.id)
    await claim_and_die(tenant, first.id)
    await lease(tenant, second.id, "wrk_second")
    due_ms = (await campaign_records(tenant.database, second.id)).contacts[0].next_at

    async with tasks_within(20) as tasks:
        tasks.start_soon(driver_of(tenant, "wrk_second").drive, second.id)
        while True:
            waiting = await campaign_records(tenant.database, second.id)
            if waiting.contacts[0].next_at != due_ms:
                break
            await anyio.sleep(0.005)
        assert (waiting.calls, waiting.contacts[0].status, waiting.deployment.in_flight) == ([], "pending", 0)
        await driver_of(tenant, "wrk_test").drive(first.id)
    for one in (first, second):
        found = await campaign_records(tenant.database, one.id)
        assert (found.deployment.status, len(found.calls)) == ("completed", 1)
        check_dialled_once(found)
        check_counters(found)
