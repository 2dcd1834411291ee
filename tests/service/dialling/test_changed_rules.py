"""A change of the rules that decide when somebody is called holds for everybody who waits."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import select

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Compliance, RetryPolicy, Weekday, Window
from callwright.service.platform.clock.clock import MINUTE, SystemClock, milliseconds, moment
from callwright.service.tables.schema import calls
from tests.support.campaign_invariants import campaign_records, check_counters, check_policy
from tests.support.campaigns import (
    after_rounds,
    ended_by_workers,
    people,
    phone,
    progressed,
    settled,
    started,
    suspend_numbers,
)
from tests.support.open_hours import first_allowed
from tests.support.service import Tenant, open_service

ANSWERS: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}
ALWAYS = [Window(days=list(WEEKDAYS), start="00:00", end="24:00")]


async def dialled(tenant: Tenant, deployment_id: str, *, after: int = 0) -> list[datetime]:
    """The moments of a deployment's calls, without the first few."""
    wanted = select(calls.c.created_at).where(calls.c.deployment_id == deployment_id).order_by(calls.c.created_at)
    found = await tenant.database.read(lambda connection: connection.execute(wanted).scalars().all())
    return [moment(at_ms) for at_ms in found[after:]]


async def shown_moments(tenant: Tenant, deployment_id: str) -> dict[str, datetime]:
    """When each contact who waits is shown to be called next."""
    contacts = (await tenant.client.deployments.list_contacts(id=deployment_id, per_page=200)).data
    return {one.id: one.next_attempt_at for one in contacts if one.next_attempt_at is not None}


def daily(start: str, end: str) -> list[Window]:
    return [Window(days=list(WEEKDAYS), start=start, end=end)]


def in_utc(windows: list[Window]) -> CallingHours:
    return CallingHours(timezone_mode="fixed", timezone="UTC", windows=windows)


def on_day(at: datetime, start: str = "09:00", end: str = "17:00") -> list[Window]:
    return [Window(days=[WEEKDAYS[at.weekday()]], start=start, end=end)]


@pytest.mark.service(workers=True, settings={"sim_time_scale": 1.0})
async def test_changed_hours_hold_for_people_who_were_put_off_in_running_time(tenant: Tenant) -> None:
    now = moment(tenant.services.clock.now_ms())
    made = await started(tenant, people(30, **ANSWERS), calling_hours=in_utc(on_day(now + timedelta(days=2))))
    with anyio.fail_after(20):
        while True:
            contacts = await tenant.client.deployments.list_contacts(id=made.id)
            moments = {contact.next_attempt_at for contact in contacts.data}
            if len(moments) == 1 and min(filter(None, moments)) > now + timedelta(hours=6):
                break
            await anyio.sleep(0.01)
    await tenant.client.deployments.pause(id=made.id)
    await settled(tenant, made.id)
    await tenant.client.deployments.update(id=made.id, calling_hours=in_utc(ALWAYS))
    seen = await tenant.client.deployments.preview(id=made.id)
    resumed = await tenant.client.deployments.resume(id=made.id, plan_id=seen.plan_id)
    for told in (seen.next_call_at, resumed.next_dial_at):
        assert told is not None
        assert told < now + timedelta(minutes=5)
    await progressed(tenant, made.id, attempts=3)
    await tenant.client.deployments.cancel(id=made.id)


async def test_changed_hours_hold_for_people_who_were_put_off_in_rehearsed_time(tenant: Tenant) -> None:
    now = moment(tenant.services.clock.now_ms())
    saturday = now + timedelta(days=2)
    paused = await after_rounds(tenant, people(30, **ANSWERS), calling_hours=in_utc(on_day(saturday)))
    tomorrow = now + timedelta(days=1)
    await tenant.client.deployments.update(id=paused.id, calling_hours=in_utc(on_day(tomorrow)))
    seen = await tenant.client.deployments.preview(id=paused.id)
    opens = tomorrow.replace(hour=9, minute=0, second=0, microsecond=0)
    assert seen.next_call_at == opens
    resumed = await tenant.client.deployments.resume(id=paused.id, plan_id=seen.plan_id)
    assert resumed.next_dial_at == opens
    await ended_by_workers(tenant, paused.id)
    assert (await dialled(tenant, paused.id))[0] == opens


@pytest.mark.parametrize(("minutes", "waits"), [(10, 10), (4_320, 4_320)])
async def test_a_changed_interval_holds_for_people_who_wait_for_a_retry(
    minutes: int, waits: int, tenant: Tenant
) -> None:
    policy = {"max_attempts": 2, "retry_on": ["no_answer"], "different_time_of_day": False}
    before = RetryPolicy.model_validate({**policy, "interval_minutes": [240]})
    paused = await after_rounds(tenant, people(5, sim_outcome="no_answer"), retry_policy=before)
    assert paused.stats.retry_waiting == 5
    after = RetryPolicy.model_validate({**policy, "interval_minutes": [minutes]})
    await tenant.client.deployments.update(id=paused.id, retry_policy=after)
    seen = await tenant.client.deployments.preview(id=paused.id)
    resumed = await tenant.client.deployments.resume(id=paused.id, plan_id=seen.plan_id)
    await ended_by_workers(tenant, paused.id)
    found = await campaign_records(tenant.database, paused.id)
    first_ended = min(call.ended_at for call in found.calls if call.attempt_number == 1)
    second = min(call.created_at for call in found.calls if call.attempt_number == 2)
    assert second == first_ended + waits * MINUTE
    assert seen.next_call_at == resumed.next_dial_at == moment(second).replace(microsecond=0)
    check_policy(found, after)
    check_counters(found)


@pytest.mark.requirement("RES-23")
@pytest.mark.parametrize("rounds", [1, 3])  # the third round makes the first retries
async def test_changed_hours_show_everybody_who_waits_when_they_are_called(
    rounds: int, database_url: str, tmp_path: Path
) -> None:
    at_eight = SystemClock(milliseconds(datetime(2026, 11, 27, 8, tzinfo=UTC)))
    retries = RetryPolicy(max_attempts=3, interval_minutes=[900], different_time_of_day=False)  # due at 23:00
    async with open_service(database_url, tmp_path, workers=False, clock=at_eight) as tenant:
        rows = people(20, sim_outcome="no_answer")
        paused = await after_rounds(tenant, rows, rounds, retry_policy=retries)
        assert paused.stats.retry_waiting
        made = len(await dialled(tenant, paused.id))
        first = await shown_moments(tenant, paused.id)
        await tenant.client.deployments.update(id=paused.id, calling_hours=in_utc(daily("09:00", "18:00")))
        told = await shown_moments(tenant, paused.id)
        assert told != first
        await tenant.client.deployments.resume(id=paused.id)
        await ended_by_workers(tenant, paused.id)
        found = await campaign_records(tenant.database, paused.id)
        called: dict[str, datetime] = {}
        for call in found.calls[made:]:
            called.setdefault(call.contact_id, moment(call.created_at))
        assert called.keys() == told.keys()
        for contact_id, at in told.items():
            assert first_allowed(in_utc(daily("09:00", "18:00")), ["UTC"], milliseconds(at)) == milliseconds(at)
            assert timedelta(0) <= called[contact_id] - at < timedelta(minutes=5)


async def test_a_campaign_that_failed_shows_nobody_as_about_to_be_called(tenant: Tenant) -> None:
    made = await started(tenant, people(3, **ANSWERS))
    assert len(await shown_moments(tenant, made.id)) == 3
    await suspend_numbers(tenant)
    assert (await ended_by_workers(tenant, made.id)).status == "failed"
    assert await shown_moments(tenant, made.id) == {}


async def test_whoever_may_not_be_tried_again_by_the_new_policy_is_not(tenant: Tenant) -> None:
    for name, given in (("fewer", {"max_attempts": 1}), ("reason", {"retry_on": ["busy"]})):
        paused = await after_rounds(tenant, people(5, sim_outcome="no_answer"), name=name)
        changed = await tenant.client.deployments.update(
            id=paused.id, retry_policy=RetryPolicy.model_validate({"max_attempts": 3, **given})
        )
        assert (changed.stats.exhausted, changed.stats.retry_waiting) == (5, 0)
        await tenant.client.deployments.resume(id=paused.id)
        assert (await ended_by_workers(tenant, paused.id)).stats.attempts == 5
        check_counters(await campaign_records(tenant.database, paused.id))


async def test_a_promised_call_back_outlives_a_change_of_the_policy(tenant: Tenant) -> None:
    paused = await after_rounds(tenant, people(3, sim_outcome="answered", sim_intent="later"))
    assert paused.stats.retry_waiting == 3
    contacts = (await tenant.client.deployments.list_contacts(id=paused.id)).data
    policy = RetryPolicy(interval_minutes=[10], retry_on=[])
    await tenant.client.deployments.update(id=paused.id, retry_policy=policy)
    after = (await tenant.client.deployments.list_contacts(id=paused.id)).data
    assert [one.next_attempt_at for one in after] == [one.next_attempt_at for one in contacts]


async def test_people_whom_the_old_hours_left_no_moment_are_called_in_the_new_ones(tenant: Tenant) -> None:
    two_zones = {**people(1, **ANSWERS)[0], "phone_number": "+12085552345"}
    never = CallingHours(windows=[Window(days=["mon"], start="09:00", end="09:30")])
    paused = await after_rounds(tenant, [two_zones, *people(1, first=1, **ANSWERS)], calling_hours=never)
    assert (paused.stats.suppressed, paused.stats.pending) == (1, 1)
    found = (await tenant.client.deployments.list_contacts(id=paused.id, status=["suppressed"])).data
    assert [contact.status_reason for contact in found] == ["calling_hours"]
    changed = await tenant.client.deployments.update(id=paused.id, calling_hours=CallingHours(windows=ALWAYS))
    assert (changed.stats.suppressed, changed.stats.pending) == (0, 2)
    await tenant.client.deployments.resume(id=paused.id)
    assert (await ended_by_workers(tenant, paused.id)).stats.completed == 2
    check_counters(await campaign_records(tenant.database, paused.id))


async def test_another_consent_column_holds_for_people_who_wait(tenant: Tenant) -> None:
    rows = [
        {**row, "old": old, "new": new}
        for row, old, new in zip(people(3, **ANSWERS), ("yes", "yes", "no"), ("yes", "no", "yes"), strict=True)
    ]
    made = await started(tenant, rows, compliance=Compliance(consent_column="old"))
    await tenant.client.deployments.pause(id=made.id)
    await tenant.client.deployments.update(id=made.id, compliance=Compliance(consent_column="new"))
    seen = await tenant.client.deployments.preview(id=made.id)
    assert seen.eligible == 2
    assert {group.reason: group.count for group in seen.blocked} == {"no_consent": 1}
    await tenant.client.deployments.resume(id=made.id)
    await ended_by_workers(tenant, made.id)
    found = await campaign_records(tenant.database, made.id)
    assert {call.to_number for call in found.calls} == {phone(0), phone(2)}
    check_counters(found)


def _days(chance: random.Random) -> list[Weekday]:
    return sorted(chance.sample(WEEKDAYS, chance.randint(1, 7)), key=WEEKDAYS.index)


def _hours(chance: random.Random) -> CallingHours | None:
    if chance.random() < 0.2:
        return None
    begin = chance.randrange(0, 22)
    windows = [Window(days=_days(chance), start=f"{begin:02d}:00", end=f"{begin + chance.choice((1, 2)):02d}:00")]
    if chance.random() < 0.5:
        return CallingHours(windows=windows)
    return CallingHours(timezone_mode="fixed", timezone=chance.choice(("UTC", "Asia/Tokyo")), windows=windows)


def _policy(chance: random.Random) -> RetryPolicy:
    return RetryPolicy(
        max_attempts=chance.choice((2, 3)),
        interval_minutes=[chance.choice((10, 60, 1_440))],
        busy_interval_minutes=chance.choice((5, 240)),
        retry_on=["no_answer", "busy"],
    )


@pytest.mark.requirement("RES-23")
@pytest.mark.service(extra_dollars=100)
async def test_preview_next_dial_and_the_next_call_agree_after_any_change(tenant: Tenant) -> None:
    """Whatever the hours and the policy were and become: what is foretold is what happens, inside the new hours."""
    for seed in range(24):
        chance = random.Random(seed)
        rows = people(3, sim_outcome=chance.choice(("no_answer", "busy")))
        fields: dict[str, Any] = {
            "calling_hours": _hours(chance),
            "retry_policy": _policy(chance),
            "name": f"campaign {seed}",
        }
        rounds = chance.choice((1, 2)) if fields["retry_policy"].max_attempts > 2 else 1
        paused = await after_rounds(tenant, rows, rounds, **fields)
        made = len(await dialled(tenant, paused.id))
        hours, policy = _hours(chance), _policy(chance)
        await tenant.client.deployments.update(id=paused.id, calling_hours=hours, retry_policy=policy)
        seen = await tenant.client.deployments.preview(id=paused.id)
        resumed = await tenant.client.deployments.resume(id=paused.id, plan_id=seen.plan_id)
        assert resumed.next_dial_at == seen.next_call_at, seed
        await ended_by_workers(tenant, paused.id)
        later = await dialled(tenant, paused.id, after=made)
        assert bool(later) is (seen.next_call_at is not None), seed
        zone = "America/Los_Angeles" if hours is None or hours.timezone is None else hours.timezone
        for at in later:
            assert first_allowed(hours, [zone], milliseconds(at)) == milliseconds(at), seed
        if later:
            assert seen.next_call_at is not None
            assert timedelta(0) <= later[0] - seen.next_call_at < timedelta(minutes=2), seed
        check_counters(await campaign_records(tenant.database, paused.id))
