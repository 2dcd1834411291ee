"""When everybody has been called, as a preview foretells it: inside the calling hours, and near to what happens."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, RetryPolicy, Window
from callwright.service.platform.clock.clock import HOUR, MINUTE, SystemClock, milliseconds, moment
from tests.support.campaign_invariants import campaign_records
from tests.support.campaigns import after_rounds, draft, ended_by_workers, people
from tests.support.open_hours import first_allowed
from tests.support.service import Tenant, open_service

NO_ANSWER: dict[str, Any] = {"sim_outcome": "no_answer"}
IN_UTC: dict[str, Any] = {"timezone_mode": "fixed", "timezone": "UTC"}


def at_eight() -> SystemClock:
    """A clock that begins on a Friday morning."""
    return SystemClock(milliseconds(datetime(2026, 11, 27, 8, tzinfo=UTC)))


def daily(start: str, end: str) -> CallingHours:
    return CallingHours(**IN_UTC, windows=[Window(days=list(WEEKDAYS), start=start, end=end)])


def twice_after(minutes: int) -> RetryPolicy:
    return RetryPolicy(
        max_attempts=2,
        interval_minutes=[minutes],
        busy_interval_minutes=max(minutes, 5),
        retry_on=["no_answer", "busy"],
        different_time_of_day=False,
    )


def inside(hours: CallingHours | None, at: datetime, zone: str = "UTC") -> bool:
    return first_allowed(hours, [zone], milliseconds(at)) == milliseconds(at)


async def all_called(tenant: Tenant, deployment_id: str, before: int) -> datetime:
    """When the last of the people who were left after so many calls was called for the next time."""
    found = await campaign_records(tenant.database, deployment_id)
    latest: dict[str, int] = {}
    for call in found.calls[before:]:
        latest.setdefault(call.contact_id, call.created_at)
    return moment(max(latest.values()))


@pytest.mark.parametrize("retry_minutes", [30, 600, 1_440])
@pytest.mark.parametrize("windows", [None, ("09:00", "18:00"), ("11:00", "11:30")])
async def test_of_a_paused_campaign_it_is_told_when_whoever_is_left_has_been_called_again(
    windows: tuple[str, str] | None, retry_minutes: int, database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False, clock=at_eight()) as tenant:
        hours = None if windows is None else daily(*windows)
        policy = twice_after(retry_minutes)
        rounds = 2 if windows is None else 3  # the first only finds that it is too early
        paused = await after_rounds(tenant, people(30, **NO_ANSWER), rounds, calling_hours=hours, retry_policy=policy)
        assert paused.stats.retry_waiting > 0
        made = paused.stats.attempts
        seen = await tenant.client.deployments.preview(id=paused.id)
        assert seen.finishes_at is not None
        assert seen.next_call_at is not None
        assert seen.finishes_at >= seen.next_call_at
        assert inside(hours, seen.finishes_at)
        await tenant.client.deployments.resume(id=paused.id, plan_id=seen.plan_id)
        await ended_by_workers(tenant, paused.id)
        assert abs(await all_called(tenant, paused.id, made) - seen.finishes_at) < timedelta(minutes=10)


async def test_many_retries_that_fall_due_together_take_their_time(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False, clock=at_eight()) as tenant:
        rules: dict[str, Any] = {"max_concurrency": 2, "calls_per_second": 10.0, "retry_policy": twice_after(60)}
        paused = await after_rounds(tenant, people(60, **NO_ANSWER), 30, **rules)
        assert paused.stats.retry_waiting == 60
        seen = await tenant.client.deployments.preview(id=paused.id)
        assert seen.finishes_at is not None
        await tenant.client.deployments.resume(id=paused.id, plan_id=seen.plan_id)
        await ended_by_workers(tenant, paused.id)
        assert abs(await all_called(tenant, paused.id, 60) - seen.finishes_at) < timedelta(minutes=15)


def _hours(chance: random.Random) -> CallingHours | None:
    if chance.random() < 0.2:
        return None
    begin, days = chance.randrange(0, 23), chance.sample(WEEKDAYS, chance.randint(1, 7))
    length = chance.choice((5, 60, 59 + 60 * chance.randrange(24 - begin)))
    end = min(begin * 60 + length, 24 * 60)
    windows = [
        Window(days=sorted(days, key=WEEKDAYS.index), start=f"{begin:02d}:00", end=f"{end // 60:02d}:{end % 60:02d}")
    ]
    if chance.random() < 0.5:
        return CallingHours(windows=windows)
    return CallingHours(timezone_mode="fixed", timezone=chance.choice(("UTC", "Asia/Tokyo")), windows=windows)


@pytest.mark.requirement("RES-33")
async def test_the_end_that_is_foretold_is_never_outside_the_hours_nor_before_now(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False, extra_dollars=100, clock=at_eight()) as tenant:
        told = 0
        for seed in range(30):
            chance = random.Random(seed)
            rows = people(chance.choice((1, 7, 40)), sim_outcome=chance.choice(("no_answer", "busy")))
            fields: dict[str, Any] = {
                "name": f"campaign {seed}",
                "calling_hours": _hours(chance),
                "retry_policy": twice_after(chance.choice((10, 61, 1_440))),
                "max_concurrency": chance.choice((1, 10)),
                "calls_per_second": chance.choice((0.1, 1.0)),
            }
            if chance.random() < 0.3:
                campaign = await draft(tenant, rows, **fields)
            else:
                rounds = chance.choice((1, 2, 3)) if len(rows) == 40 else 1
                campaign = await after_rounds(tenant, rows, rounds, **fields)
            hours = campaign.calling_hours
            if chance.random() < 0.5:
                hours = _hours(chance)
                await tenant.client.deployments.update(id=campaign.id, calling_hours=hours)
            seen = await tenant.client.deployments.preview(id=campaign.id)
            if seen.next_call_at is None:
                assert seen.finishes_at is None, seed
                continue
            now = campaign.clock or moment(tenant.services.clock.now_ms() // 1_000 * 1_000 - MINUTE)
            zone = "America/Los_Angeles" if hours is None or hours.timezone is None else hours.timezone
            assert inside(hours, seen.next_call_at, zone), seed
            if seen.finishes_at is not None:  # it may be more than 100 days ahead
                told += 1
                assert inside(hours, seen.finishes_at, zone), seed
                assert seen.finishes_at >= seen.next_call_at >= now, seed
        assert told > 20


@pytest.mark.parametrize(
    ("calls", "seconds"),
    [(6, 60), (7, 24 * 60 * 60 + 10)],  # ten seconds each; the minute is full with the sixth
)
async def test_calling_that_fills_the_hours_ends_inside_them(
    calls: int, seconds: int, database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False, clock=at_eight()) as tenant:
        now = moment(tenant.services.clock.now_ms() + HOUR * 24)
        begin = now.replace(hour=9, minute=0, second=0, microsecond=0)
        made = await draft(
            tenant, people(calls), start_at=begin, calling_hours=daily("09:00", "09:01"), calls_per_second=0.1
        )
        seen = await tenant.client.deployments.preview(id=made.id)
        assert seen.finishes_at is not None
        assert inside(daily("09:00", "09:01"), seen.finishes_at)
        assert abs(seen.finishes_at - begin - timedelta(seconds=seconds)) <= timedelta(seconds=1)
