"""Whoever asks for another call gets it at the moment named, by the clock of their place, while attempts are left."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import CallingHours, RetryPolicy, Window
from tests.support.campaign_invariants import campaign_records, check_everything
from tests.support.campaigns import calls_of, draft, make_agent, people
from tests.support.service import Tenant, open_service

pytestmark = pytest.mark.service(workers=True)

BEGIN = datetime(2027, 1, 12, 20, tzinfo=UTC)
"""A Tuesday: 15:00 in New York, 12:00 in Los Angeles."""


async def campaign(
    tenant: Tenant, script: str, *, attempts: int = 2, area: str = "212", name: str = "Campaign", **fields: Any
) -> Deployment:
    """A campaign that has ended, of one person with these words on each call."""
    rows = people(1, area=area, sim_outcome="answered", sim_script=f"Hello?|{script}")
    policy = RetryPolicy(max_attempts=attempts)
    made = await draft(tenant, rows, name, retry_policy=policy, start_at=BEGIN, **fields)
    await tenant.client.deployments.start(id=made.id, jump_clock=True)
    return await tenant.ended(made.id)


async def said_last(tenant: Tenant, call_id: str) -> str:
    transcript = await tenant.client.calls.get_transcript(call_uuid=call_id)
    return [turn.text for turn in transcript.turns if turn.role == "agent"][-1]


@pytest.mark.requirement("CALLTOOL-16")
async def test_a_call_is_made_at_the_moment_that_was_named_in_the_time_of_the_persons_place(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path) as tenant:
        for area, zone in (("212", "America/New_York"), ("415", "America/Los_Angeles")):
            done = await campaign(tenant, "Please call me tomorrow at 3 pm.", area=area, name=zone)
            first, second = await calls_of(tenant, done.id)
            asked = datetime(2027, 1, 13, 15, tzinfo=ZoneInfo(zone))
            assert (first.disposition, first.callback_at) == ("callback_requested", asked)
            assert second.created_at == asked
            check_everything(await campaign_records(tenant.database, done.id), RetryPolicy(max_attempts=2))


@pytest.mark.requirement("CALLTOOL-16")
async def test_a_call_that_was_asked_for_at_night_waits_for_the_calling_hours(tenant: Tenant) -> None:
    day = Window(days=["mon", "tue", "wed", "thu", "fri"], start="09:00", end="18:00")
    done = await campaign(tenant, "Call me at eleven pm.", calling_hours=CallingHours(windows=[day]))
    first, second = await calls_of(tenant, done.id)
    new_york = ZoneInfo("America/New_York")
    assert first.callback_at == datetime(2027, 1, 12, 23, tzinfo=new_york)
    assert second.created_at == datetime(2027, 1, 13, 9, tzinfo=new_york)


@pytest.mark.requirement("CALLTOOL-16")
async def test_the_time_zone_of_the_call_tool_wins_over_that_of_the_place(tenant: Tenant) -> None:
    agent = await make_agent(tenant)
    tool = {"type": "call_back_at", "name": "note", "description": "Notes a callback.", "time_zone": "America/Denver"}
    await tenant.client.agents.set_call_tools(id=agent.id, call_tools=[tool])  # pyright: ignore[reportArgumentType]  # checked as it is sent
    done = await campaign(tenant, "Please call me tomorrow at 3 pm.", agent_id=agent.id)
    first = (await calls_of(tenant, done.id))[0]
    assert first.callback_at == datetime(2027, 1, 13, 15, tzinfo=ZoneInfo("America/Denver"))


@pytest.mark.requirement("CALLTOOL-16")
async def test_who_names_no_moment_is_called_in_a_day_and_told_so(tenant: Tenant) -> None:
    done = await campaign(tenant, "Could you call me back?")
    first = (await calls_of(tenant, done.id))[0]
    assert first.callback_at is not None
    assert first.ended_at is not None
    assert first.callback_at - first.ended_at == timedelta(days=1)
    assert "in about a day" in await said_last(tenant, first.id)


@pytest.mark.requirement("CALLTOOL-17")
async def test_a_callback_beyond_the_last_attempt_is_not_promised_and_is_shown(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path) as tenant:
        done = await campaign(tenant, "Please call me tomorrow at 3 pm.", attempts=1)
        (call,) = await calls_of(tenant, done.id)
        assert "I'll note that you'd like a call" in await said_last(tenant, call.id)
        (contact,) = (await tenant.client.deployments.list_contacts(id=done.id)).data
        assert (contact.status, contact.status_reason) == ("completed", "callback_not_possible")
        assert contact.callback_at == call.callback_at
        assert contact.callback_at == datetime(2027, 1, 13, 15, tzinfo=ZoneInfo("America/New_York"))
        assert done.stats.attempts == 1
