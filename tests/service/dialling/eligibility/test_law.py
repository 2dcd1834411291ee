"""Campaigns that dial by the law: hours where each person is, caps over all campaigns, and the evidence of it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from callwright.contract.calls.calls import Call
from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, RetryPolicy, Window
from callwright.service.platform.clock.clock import SystemClock, milliseconds
from callwright.service.rules.regions.rule_file import shipped_rules
from tests.support.campaigns import ONCE, calls_of, draft, people, rent, run, started
from tests.support.service import open_service

pytestmark = pytest.mark.usefixtures("shipped_law")
SATURDAY_NIGHT = SystemClock(milliseconds(datetime(2027, 3, 7, 3, tzinfo=UTC)))
"""22:00 in New York, on the night before a Sunday; a week later the clocks change."""
ALL_DAY = CallingHours(windows=[Window(days=list(WEEKDAYS), start="00:00", end="24:00")])


def local(call: Call, zone: str) -> datetime:
    return call.created_at.astimezone(ZoneInfo(zone))


def person(number: str, **cells: str) -> dict[str, Any]:
    return {"phone_number": number, "first_name": "Kim", "sim.outcome": "answered", **cells}


async def test_without_calling_hours_everybody_is_called_from_monday_to_saturday_between_nine_and_eight(
    database_url: str, tmp_path: Path
) -> None:
    rows = [person("+12125550100"), person("+13105550100"), person("+493055500100"), person("+919812345678")]
    zones = ("America/New_York", "America/Los_Angeles", "Europe/Berlin", "Asia/Kolkata")
    async with open_service(database_url, tmp_path, clock=SATURDAY_NIGHT) as tenant:
        ended = await run(tenant, rows, retry_policy=ONCE)
        assert ended.rules_version == shipped_rules().version
        made = {call.to: call for call in await calls_of(tenant, ended.id)}
        assert len(made) == len(rows)
        for row, zone in zip(rows, zones, strict=True):
            at = local(made[row["phone_number"]], zone)
            assert at.weekday() < 6
            assert 9 <= at.hour < 20, (zone, at)


async def test_hours_of_a_campaign_are_narrowed_by_the_hours_of_the_region(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, clock=SATURDAY_NIGHT) as tenant:
        rows = [person("+12125550100"), person("+12125550101", state="Rhode Island")]
        ended = await run(tenant, rows, calling_hours=ALL_DAY, retry_policy=ONCE)
        made = await calls_of(tenant, ended.id)
        assert [8 <= local(call, "America/New_York").hour < 21 for call in made] == [True, True]
        islander = next(call for call in made if call.to == "+12125550101")
        at = local(islander, "America/New_York")
        assert at.weekday() != 6
        assert 9 <= at.hour < 18
        evidence = await tenant.client.calls.get_evidence(call_uuid=islander.id)
        assert "US-RI" in evidence.regions, "the column wins over the area code"


async def test_the_history_of_a_call_has_the_decisions_before_it_alone(database_url: str, tmp_path: Path) -> None:
    brief = CallingHours(windows=[Window(days=list(WEEKDAYS), start="10:00", end="10:30")])
    async with open_service(database_url, tmp_path, clock=SATURDAY_NIGHT) as tenant:
        silent = {**person("+12125550100"), "sim.outcome": "no_answer"}
        ended = await run(tenant, [silent], calling_hours=brief, retry_policy=RetryPolicy(max_attempts=2))
        first, second = await calls_of(tenant, ended.id)
        kept = [await tenant.client.calls.get_evidence(call_uuid=call.id) for call in (first, second)]
        decided = [[one.decided_at for one in each.history] for each in kept]
        assert len(decided[0]) < len(decided[1])
        assert max(decided[0]) < first.created_at <= max(decided[1]) < second.created_at


async def test_a_call_keeps_why_it_was_allowed_and_a_contact_what_deferred_it(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, clock=SATURDAY_NIGHT) as tenant:
        ended = await run(tenant, [person("+13055550100")], retry_policy=ONCE)
        (call,) = await calls_of(tenant, ended.id)
        kept = await tenant.client.calls.get_evidence(call_uuid=call.id)
        assert kept.rules_version == shipped_rules().version
        assert kept.regions == ["US", "US-FL"]
        assert kept.time_zones == ["America/New_York"]
        assert kept.local_time == f"{local(call, 'America/New_York'):%a %Y-%m-%d %H:%M:%S %z}"
        assert {rule.id for rule in kept.rules} >= {"*.hours"}
        assert all(rule.source for rule in kept.rules)
        assert (kept.calls_in_24_hours, kept.calls_in_7_days) == (0, 0)
        assert [(one.decision, one.rule) for one in kept.history][-1][0] == "deferred"
        assert kept.history[0].until == call.created_at
        listed = [one async for one in tenant.client.deployments.list_evidence(id=ended.id)]
        assert [(one.call_id, one.local_time) for one in listed] == [(call.id, kept.local_time)]
        (contact,) = [one async for one in tenant.client.deployments.list_contacts(id=ended.id)]
        assert (contact.decided_by, contact.decided_at) == ("allowed", call.created_at)


async def test_the_cap_on_calls_to_a_number_holds_over_all_campaigns(database_url: str, tmp_path: Path) -> None:
    often = RetryPolicy(
        max_attempts=4,
        max_attempts_per_day=4,
        interval_minutes=[10],
        retry_on=["no_answer"],
        different_time_of_day=False,
    )
    noon = SystemClock(milliseconds(datetime(2027, 3, 3, 15, tzinfo=UTC)))
    async with open_service(database_url, tmp_path, clock=noon) as tenant:
        rows = [person("+13055550100", **{"sim.outcome": "no_answer"})]
        numbers = [(await rent(tenant)).id]
        both = [
            await started(tenant, rows, name, retry_policy=often, phone_number_ids=numbers) for name in ("One", "Two")
        ]
        times: list[datetime] = []
        for campaign in both:
            ended = await tenant.ended(campaign.id)
            made = await calls_of(tenant, ended.id)
            assert len(made) == 4
            times += [call.created_at for call in made]
        times.sort()
        for first, fourth in zip(times, times[3:], strict=False):
            assert fourth - first >= timedelta(hours=24)
        assert times[7] - times[0] >= timedelta(days=7), "at most seven in a week"


async def test_calls_to_both_notations_of_a_line_count_together(database_url: str, tmp_path: Path) -> None:
    noon = SystemClock(milliseconds(datetime(2027, 3, 3, 15, tzinfo=UTC)))
    async with open_service(database_url, tmp_path, clock=noon) as tenant:
        numbers = [(await rent(tenant)).id]
        times: list[datetime] = []
        for place, number in enumerate(("+5491123456789", "+541123456789") * 2):
            rows = [person(number)]
            made = await started(tenant, rows, f"Campaign {place}", retry_policy=ONCE, phone_number_ids=numbers)
            ended = await tenant.ended(made.id)
            times += [call.created_at for call in await calls_of(tenant, ended.id)]
        times.sort()
        assert len(times) == 4
        assert times[3] - times[0] >= timedelta(hours=24)


async def test_a_number_makes_no_more_calls_in_24_hours_than_its_cap(database_url: str, tmp_path: Path) -> None:
    noon = SystemClock(milliseconds(datetime(2027, 3, 3, 15, tzinfo=UTC)))
    async with open_service(database_url, tmp_path, clock=noon) as tenant:
        number = await rent(tenant)
        assert number.max_calls_per_day == 200
        await tenant.client.phone_numbers.update(id=number.id, max_calls_per_day=5)
        ended = await run(
            tenant, people(12, area="305", sim_outcome="answered"), phone_number_ids=[number.id], retry_policy=ONCE
        )
        times = [call.created_at for call in await calls_of(tenant, ended.id)]
        assert len(times) == 12
        for first, sixth in zip(times, times[5:], strict=False):
            assert sixth - first >= timedelta(hours=24)


async def test_a_preview_says_the_moment_of_the_first_call_by_the_law(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, clock=SATURDAY_NIGHT) as tenant:
        made = await draft(tenant, [person("+12125550100")])
        seen = await tenant.client.deployments.preview(id=made.id)
        assert seen.next_call_at == datetime(2027, 3, 8, 14, tzinfo=UTC)
        assert "Mon-Sat 09:00-20:00 in each person's own time zone" in seen.summary
