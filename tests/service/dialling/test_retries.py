"""When people are called again, seen in whole campaigns: the network does what `sim.outcome` says on every attempt."""

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Row

from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.platform.clock.clock import DAY, HOUR, MINUTE
from tests.support.campaign_invariants import CampaignRecords, campaign_records, check_everything
from tests.support.campaigns import draft, people, run
from tests.support.service import Tenant, open_service

pytestmark = pytest.mark.service(workers=True)


async def campaign_of_one(database_url: str, folder: Path, policy: RetryPolicy, **cells: Any) -> CampaignRecords:
    """A whole campaign with one contact and lines enough, checked against every rule."""
    async with open_service(database_url, folder) as tenant:
        ended = await run(tenant, people(1, **cells), retry_policy=policy)
        found = await campaign_records(tenant.database, ended.id)
        check_everything(found, policy)
        return found


def waits_ms(found: CampaignRecords) -> list[int]:
    """From the end of each call to the next one."""
    made = found.calls
    return [after.created_at - before.ended_at for before, after in pairwise(made)]


def only(found: CampaignRecords) -> Row[Any]:
    (contact,) = found.contacts
    return contact


async def test_a_busy_number_is_retried_after_the_busy_interval(database_url: str, tmp_path: Path) -> None:
    policy = RetryPolicy(max_attempts=3, busy_interval_minutes=20, max_attempts_per_day=3)
    found = await campaign_of_one(database_url, tmp_path, policy, sim_outcome="busy")
    assert waits_ms(found) == [20 * MINUTE] * 2
    assert (only(found).status, only(found).attempts) == ("exhausted", 3)


async def test_each_retry_takes_its_interval_and_the_last_one_repeats(database_url: str, tmp_path: Path) -> None:
    policy = RetryPolicy(max_attempts=4, interval_minutes=[30, 90], max_attempts_per_day=4, different_time_of_day=False)
    found = await campaign_of_one(database_url, tmp_path, policy, sim_outcome="no_answer")
    assert waits_ms(found) == [30 * MINUTE, 90 * MINUTE, 90 * MINUTE]


async def test_no_24_hours_hold_more_attempts_than_allowed(database_url: str, tmp_path: Path) -> None:
    policy = RetryPolicy(max_attempts=5, busy_interval_minutes=15, max_attempts_per_day=2)
    found = await campaign_of_one(database_url, tmp_path, policy, sim_outcome="busy")
    moments = [call.created_at for call in found.calls]
    assert [moments[2] - moments[0], moments[3] - moments[1], moments[4] - moments[2]] == [DAY] * 3


async def test_a_retry_a_day_later_is_made_at_another_time_of_day(database_url: str, tmp_path: Path) -> None:
    policy = RetryPolicy(max_attempts=2, interval_minutes=[1_440])
    found = await campaign_of_one(database_url, tmp_path, policy, sim_outcome="no_answer")
    first, second = (datetime.fromtimestamp(call.created_at / 1_000, UTC) for call in found.calls)
    apart = abs((second - first).total_seconds() % 86_400)
    assert 2 * 3_600 <= apart <= 22 * 3_600
    assert waits_ms(found) == [DAY + 4 * HOUR]


async def test_without_the_rule_a_retry_may_come_at_the_same_time_of_day(database_url: str, tmp_path: Path) -> None:
    policy = RetryPolicy(max_attempts=2, interval_minutes=[1_440], different_time_of_day=False)
    found = await campaign_of_one(database_url, tmp_path, policy, sim_outcome="no_answer")
    assert waits_ms(found) == [DAY]


@pytest.mark.parametrize(
    ("outcome", "attempts", "status"),
    [
        ("answered", 1, "completed"),
        ("transferred", 1, "completed"),
        ("voicemail", 1, "exhausted"),
        ("invalid_number", 1, "exhausted"),
        ("rejected", 1, "exhausted"),
        ("no_answer", 3, "exhausted"),
        ("unreachable", 3, "exhausted"),
        ("failed", 3, "exhausted"),
        ("abandoned", 3, "exhausted"),
    ],
)
async def test_the_default_policy_retries_what_may_succeed(
    database_url: str, tmp_path: Path, outcome: str, attempts: int, status: str
) -> None:
    found = await campaign_of_one(database_url, tmp_path, RetryPolicy(), sim_outcome=outcome)
    assert (only(found).attempts, only(found).status, only(found).last_outcome) == (attempts, status, outcome)


@pytest.mark.parametrize("reason", ["voicemail", "rejected"])
async def test_what_is_asked_for_by_name_is_retried_as_well(database_url: str, tmp_path: Path, reason: Any) -> None:
    policy = RetryPolicy(max_attempts=2, retry_on=[reason])
    found = await campaign_of_one(database_url, tmp_path, policy, sim_outcome=reason)
    assert (only(found).attempts, only(found).status) == (2, "exhausted")


async def test_an_invalid_number_is_never_tried_again(database_url: str, tmp_path: Path) -> None:
    policy = RetryPolicy(retry_on=["no_answer", "busy", "failed", "voicemail", "rejected", "short_call"])
    found = await campaign_of_one(database_url, tmp_path, policy, sim_outcome="invalid_number")
    assert only(found).attempts == 1


async def test_whoever_opts_out_is_not_called_again(database_url: str, tmp_path: Path) -> None:
    policy = RetryPolicy(max_attempts=5, retry_on=["short_call", "no_answer"], short_call_seconds=120)
    found = await campaign_of_one(database_url, tmp_path, policy, sim_outcome="answered", sim_intent="opt_out")
    assert (only(found).status, only(found).attempts) == ("suppressed", 1)
    assert only(found).last_disposition == "do_not_call"


async def test_a_call_back_is_made_when_it_was_asked_for(database_url: str, tmp_path: Path) -> None:
    policy = RetryPolicy(max_attempts=2)
    found = await campaign_of_one(database_url, tmp_path, policy, sim_outcome="answered", sim_intent="later")
    first, second = found.calls
    assert first.disposition == "callback_requested"
    assert second.created_at == first.callback_at
    assert (only(found).status, only(found).attempts) == ("completed", 2)


async def test_a_short_call_is_retried_only_when_the_policy_says_so(tenant: Tenant) -> None:
    hangs_up_early = [{"phone_number": "+12025550108", "first_name": "Kim"}]
    policy = RetryPolicy(max_attempts=2, retry_on=["short_call"], short_call_seconds=30)
    retried = await run(tenant, hangs_up_early, "one", retry_policy=policy)
    left = await run(tenant, hangs_up_early, "two", retry_policy=RetryPolicy())
    assert (retried.stats.attempts, left.stats.attempts) == (2, 1)
    assert left.stats.dispositions == {"incomplete": 1}
    assert (retried.stats.completed, left.stats.completed) == (1, 1)


@pytest.mark.requirement("STOP-09")
async def test_people_who_do_not_answer_are_tried_in_each_part_of_their_own_day(tenant: Tenant) -> None:
    policy = RetryPolicy(
        parts_of_day=["morning", "afternoon", "evening"], interval_minutes=[10], max_attempts_per_day=3
    )
    rows = [*people(1, area="212", sim_outcome="no_answer"), *people(1, area="415", sim_outcome="no_answer")]
    begin = datetime(2027, 1, 12, 15, tzinfo=UTC)
    made = await draft(tenant, rows, retry_policy=policy, start_at=begin)
    await tenant.client.deployments.start(id=made.id, jump_clock=True)
    assert (await tenant.ended(made.id)).status == "completed"
    calls = [call async for call in tenant.client.calls.list(deployment_id=made.id)]
    for area, zone, hours in (("212", "America/New_York", [10, 12, 17]), ("415", "America/Los_Angeles", [7, 9, 12])):
        made_at = sorted(call.created_at for call in calls if call.to[2:5] == area)
        assert [at.astimezone(ZoneInfo(zone)).hour for at in made_at] == hours
