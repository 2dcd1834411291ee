"""What a list says of how each person is called, in whole campaigns."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from callwright.contract.deployments.dialling import CallingHours, RetryPolicy, Window
from tests.support.campaign_invariants import campaign_records, check_everything
from tests.support.campaigns import (
    ONCE,
    calls_of,
    draft,
    driver_of,
    ended_by_workers,
    lease,
    make_audience,
    people,
    phone,
    run,
    started,
)
from tests.support.service import Tenant

ALWAYS = CallingHours(
    windows=[Window(days=["mon", "tue", "wed", "thu", "fri", "sat", "sun"], start="00:00", end="23:59")]
)
NAMED: dict[str, Any] = {"priority_column": "rank", "not_before_column": "earliest", "language_column": "speaks"}


def ranked(ranks: str, *, first: int = 0, **cells: str) -> list[dict[str, Any]]:
    """A person for each digit, which is their priority."""
    return [{**row, "rank": rank, **cells} for row, rank in zip(people(len(ranks), first=first), ranks, strict=True)]


async def order_of(tenant: Tenant, deployment_id: str) -> list[str]:
    """The numbers that were called, in the order of the dials."""
    return [call.to for call in await calls_of(tenant, deployment_id)]


@pytest.mark.service(workers=True)
@pytest.mark.requirement("COLUMN-01")
async def test_the_highest_priority_is_called_first_and_equal_ones_in_the_order_of_the_list(tenant: Tenant) -> None:
    audience = await make_audience(tenant, ranked("0390313000"), **NAMED)
    ended = await run(tenant, [], audience_id=audience.id, max_concurrency=1, retry_policy=ONCE)
    expected = [phone(index) for index in (2, 1, 4, 6, 5, 0, 3, 7, 8, 9)]
    assert await order_of(tenant, ended.id) == expected
    check_everything(await campaign_records(tenant.database, ended.id), ONCE)


@pytest.mark.service(workers=False)
@pytest.mark.requirement("COLUMN-01")
async def test_who_is_added_with_a_priority_is_called_before_those_who_wait(tenant: Tenant) -> None:
    audience = await make_audience(tenant, ranked("0" * 40), **NAMED)
    campaign = await started(tenant, [], audience_id=audience.id, max_concurrency=1, retry_policy=ONCE)
    await lease(tenant, campaign.id, "wrk_test")
    await driver_of(tenant, rounds=2).drive(campaign.id)
    before = len(await order_of(tenant, campaign.id))
    assert 0 < before < 40
    await tenant.client.audiences.add_rows(id=audience.id, rows=ranked("19", first=50))
    await ended_by_workers(tenant, campaign.id)
    order = await order_of(tenant, campaign.id)
    assert order[before : before + 2] == [phone(51), phone(50)]
    assert sorted(order) == sorted(phone(index) for index in (*range(40), 50, 51))


@pytest.mark.service(workers=True)
@pytest.mark.requirement("COLUMN-01", "COLUMN-02")
async def test_retries_and_priorities_break_no_rule_of_dialling(tenant: Tenant) -> None:
    policy = RetryPolicy(max_attempts=3)
    audience = await make_audience(tenant, ranked("0123456789" * 6), **NAMED)
    ended = await run(tenant, [], audience_id=audience.id, retry_policy=policy)
    check_everything(await campaign_records(tenant.database, ended.id), policy)
    assert ended.stats.contacts == 60


@pytest.mark.service(workers=True)
@pytest.mark.requirement("COLUMN-02")
async def test_nobody_is_called_before_the_time_of_the_list(tenant: Tenant) -> None:
    later = datetime.now(UTC).replace(microsecond=0) + timedelta(days=3)
    rows = [
        *ranked("00"),
        *ranked("9", first=2, earliest=later.isoformat()),
        *ranked("9", first=3, earliest="2020-01-01"),
    ]
    audience = await make_audience(tenant, rows, **NAMED)
    made = await draft(tenant, [], audience_id=audience.id, max_concurrency=1, calling_hours=ALWAYS, retry_policy=ONCE)
    preview = await tenant.client.deployments.preview(id=made.id)
    assert preview.finishes_at is not None
    assert preview.finishes_at >= later
    await tenant.client.deployments.start(id=made.id)
    await tenant.ended(made.id)
    calls = await calls_of(tenant, made.id)
    assert [call.to for call in calls] == [phone(3), phone(0), phone(1), phone(2)]
    assert calls[2].created_at < later <= calls[3].created_at


@pytest.mark.service(workers=False)
@pytest.mark.requirement("COLUMN-02")
async def test_changed_rules_do_not_bring_a_later_person_forward(tenant: Tenant) -> None:
    later = datetime.now(UTC).replace(microsecond=0) + timedelta(days=3)
    audience = await make_audience(tenant, ranked("0", earliest=later.isoformat()), **NAMED)
    made = await started(tenant, [], audience_id=audience.id)
    await tenant.client.deployments.pause(id=made.id)
    await tenant.client.deployments.update(id=made.id, retry_policy=ONCE, calling_hours=ALWAYS)
    await tenant.client.deployments.resume(id=made.id)
    await ended_by_workers(tenant, made.id)
    (call,) = await calls_of(tenant, made.id)
    assert call.created_at >= later


@pytest.mark.service(workers=True)
@pytest.mark.requirement("COLUMN-03")
async def test_the_agent_speaks_the_language_of_the_person(tenant: Tenant) -> None:
    rows = [
        {**row, "speaks": language, "sim.outcome": "answered"}
        for row, language in zip(people(3), ("de-DE", "", "fr"), strict=True)
    ]
    audience = await make_audience(tenant, rows, **NAMED)
    ended = await run(tenant, [], audience_id=audience.id, max_concurrency=1, retry_policy=ONCE)
    languages, spoken = dict[str, str](), dict[str, set[str]]()
    for call in await calls_of(tenant, ended.id):
        transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
        languages[call.to] = transcript.language
        spoken[call.to] = {turn.language for turn in transcript.turns if turn.role == "agent"}
    assert languages == {phone(0): "de-DE", phone(1): "en-US", phone(2): "fr"}
    assert "de-DE" in spoken[phone(0)] - spoken[phone(1)]
    assert "en-US" in spoken[phone(1)] - spoken[phone(0)]
