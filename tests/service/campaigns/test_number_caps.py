"""What a preview says of a campaign whose numbers may make only so many calls within 24 hours."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Window
from tests.support.campaigns import ONCE, after_rounds, audience_of, calls_of, draft, ended_by_workers, people, rent
from tests.support.clock_set_by_test import clock_at
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service

FRIDAY = datetime(2026, 11, 27, 8, tzinfo=UTC)
OFFICE = CallingHours(
    timezone_mode="fixed", timezone="UTC", windows=[Window(days=list(WEEKDAYS), start="09:00", end="18:00")]
)
TALKS: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}
RULE = "phone_number.max_calls_per_day"


def on_friday() -> dict[str, Any]:
    """What a service without workers is opened with whose clock begins on that day."""
    return {"workers": False, "clock": clock_at(FRIDAY)}


async def number(tenant: Tenant, most: int | None) -> str:
    """The id of a number that may make so many calls within 24 hours."""
    rented = await rent(tenant)
    return (await tenant.client.phone_numbers.update(id=rented.id, max_calls_per_day=most)).id


def of_caps(warnings: list[str]) -> list[str]:
    return [said for said in warnings if said.startswith(RULE)]


@pytest.mark.parametrize("hours", [None, OFFICE])
async def test_the_end_that_is_foretold_is_when_the_last_is_called_by_capped_numbers(
    hours: CallingHours | None, database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, **on_friday()) as tenant:
        numbers = [await number(tenant, 7), await number(tenant, 3)]
        made = await draft(
            tenant, people(35, **TALKS), calling_hours=hours, retry_policy=ONCE, phone_number_ids=numbers
        )
        seen = await tenant.client.deployments.preview(id=made.id)
        assert seen.finishes_at is not None
        assert seen.finishes_at == seen.last_call_at
        (said,) = of_caps(seen.warnings)
        begin = FRIDAY.replace(hour=9) if hours else FRIDAY
        assert said == (
            f"{RULE}: 2 phone numbers may make 10 calls within any 24 hours, so calling everybody once takes until "
            f"about {seen.finishes_at:%Y-%m-%d %H:%M} UTC instead of until {begin:%Y-%m-%d %H}:02 UTC; add phone "
            "numbers, or raise max_calls_per_day"
        )
        await tenant.client.deployments.start(id=made.id, plan_id=seen.plan_id)
        await ended_by_workers(tenant, made.id)
        last = max(call.created_at for call in await calls_of(tenant, made.id))
        assert last >= begin + timedelta(days=3)
        assert abs(last - seen.finishes_at) < timedelta(minutes=10)


async def test_ten_thousand_people_take_fifty_days_from_one_number(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, extra_dollars=10_000, **on_friday()) as tenant:
        made = await draft(tenant, people(10_000))
        seen = await tenant.client.deployments.preview(id=made.id)
        assert seen.finishes_at is not None
        assert FRIDAY + timedelta(days=49) <= seen.finishes_at < FRIDAY + timedelta(days=50)
        assert "1 phone number may make 200 calls" in of_caps(seen.warnings)[0]


@pytest.mark.parametrize("caps", [(30,), (3, None), (15, 15)])
async def test_numbers_that_may_call_everybody_within_a_day_delay_nobody(
    caps: tuple[int | None, ...], tenant: Tenant
) -> None:
    numbers = [await number(tenant, most) for most in caps]
    capped = await draft(tenant, people(30), "Capped", phone_number_ids=numbers)
    free = await draft(
        tenant, [], "Free", audience_id=audience_of(capped), phone_number_ids=[await number(tenant, None)]
    )
    seen, other = [await tenant.client.deployments.preview(id=one.id) for one in (capped, free)]
    assert seen.finishes_at is not None
    assert other.finishes_at is not None
    assert abs(seen.finishes_at - other.finishes_at) < timedelta(minutes=1)
    assert of_caps(seen.warnings) == of_caps(other.warnings) == []


async def test_beyond_a_hundred_days_no_end_is_foretold_and_the_caps_are_named(tenant: Tenant) -> None:
    made = await draft(tenant, people(120), phone_number_ids=[await number(tenant, 1)])
    seen = await tenant.client.deployments.preview(id=made.id)
    assert (seen.finishes_at, seen.last_call_at) == (None, None)
    assert "takes more than 100 days instead of until" in of_caps(seen.warnings)[0]


async def test_whoever_the_caps_leave_uncalled_at_the_end_is_counted_and_the_caps_are_named(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, **on_friday()) as tenant:
        given: dict[str, Any] = {"phone_number_ids": [await number(tenant, 10)], "end_at": FRIDAY + timedelta(hours=36)}
        seen = await tenant.client.deployments.preview(id=(await draft(tenant, people(30), **given)).id)
        assert seen.finishes_at is None
        assert seen.last_call_at == given["end_at"]
        assert "about 10 of 30 will probably not be called before end_at; set a later end_at" in seen.warnings
        assert "1 phone number may make 10 calls" in of_caps(seen.warnings)[0]


async def test_a_number_that_has_made_its_calls_of_the_day_calls_when_they_do_not_count_any_more(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, **on_friday()) as tenant:
        numbers = [await number(tenant, 10)]
        first = await draft(tenant, people(10, **TALKS), phone_number_ids=numbers)
        await tenant.client.deployments.start(id=first.id)
        await ended_by_workers(tenant, first.id)
        made = await draft(tenant, people(30, first=10), "Second", phone_number_ids=numbers)
        seen = await tenant.client.deployments.preview(id=made.id)
        assert seen.next_call_at is not None
        assert seen.finishes_at is not None
        assert timedelta(0) <= seen.next_call_at - (FRIDAY + timedelta(days=1)) < timedelta(minutes=10)
        assert timedelta(0) <= seen.finishes_at - (FRIDAY + timedelta(days=3)) < timedelta(minutes=10)
        assert "10 calls within any 24 hours and made 10 of them in the last" in of_caps(seen.warnings)[0]
        await tenant.client.deployments.update(id=made.id, end_at=FRIDAY + timedelta(hours=2))
        async with refusal(422, "compliance_rejected", "end_at"):
            await tenant.client.deployments.start(id=made.id)


async def test_of_a_paused_campaign_its_own_calls_of_the_day_count(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, **on_friday()) as tenant:
        given: dict[str, Any] = {"phone_number_ids": [await number(tenant, 10)], "retry_policy": ONCE}
        paused = await after_rounds(tenant, people(25, **TALKS), max_concurrency=6, **given)
        assert paused.stats.attempts == 6
        seen = await tenant.client.deployments.preview(id=paused.id)
        assert seen.finishes_at is not None
        assert seen.next_call_at is not None
        assert seen.next_call_at < FRIDAY + timedelta(minutes=10)
        await tenant.client.deployments.resume(id=paused.id, plan_id=seen.plan_id)
        await ended_by_workers(tenant, paused.id)
        last = max(call.created_at for call in await calls_of(tenant, paused.id))
        assert last >= FRIDAY + timedelta(days=2)
        assert abs(last - seen.finishes_at) < timedelta(minutes=10)
