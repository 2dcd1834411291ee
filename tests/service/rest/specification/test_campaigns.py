"""What a campaign shows while it runs, and its calls afterwards."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import anyio
import pytest

from callwright.contract.calls.calls import OUTCOMES
from callwright.contract.deployments.contacts import ContactStatus
from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Window
from callwright.service.platform.clock.clock import moment
from callwright.service.settings import ServiceSettings
from tests.support import resources
from tests.support.campaigns import ONCE, people, run, started
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.service import Tenant, open_service

pytestmark = pytest.mark.service(workers=True)

STEERED = ("answered", "busy", "no_answer", "voicemail", "unreachable", "rejected", "invalid_number")
CONTACTS = (
    *("pending", "in_flight", "retry_waiting", "held"),
    *("completed", "exhausted", "suppressed", "skipped", "expired", "cancelled"),
)


@pytest.mark.requirement(
    "SERV-02", "SERV-05", "RES-01", "RES-03", "RES-04", "RES-05", "RES-06", "RES-07", "RES-08", "RES-09", "CONV-26"
)
async def test_a_finished_call_says_whose_it_is_how_long_it_was_and_what_came_of_it(
    tenant: Tenant, http: AsyncClient
) -> None:
    rows = [row for index, outcome in enumerate(STEERED) for row in people(1, first=index, sim_outcome=outcome)]
    ended = await run(tenant, rows, retry_policy=ONCE)
    listed = (await http.get("/v1/calls", params={"filter[deployment_id]": ended.id})).json()["data"]
    assert {call["outcome"] for call in listed} == set(STEERED) <= set(OUTCOMES)
    for call in listed:
        assert call["call_id"] == call["id"]
        assert (call["deployment_id"], call["agent_id"]) == (ended.id, ended.agent_id)
        for field in ("duration_seconds", "ring_seconds", "billed_seconds"):
            assert type(call[field]) is int, field
        reached = call["answered_at"] is not None
        assert (call["duration_seconds"] > 0) is reached
        for field in ("recording_url", "transcript_url"):
            assert (call[field] is None) is not reached, call["outcome"]
            if reached:
                assert (await http.get(call[field])).status_code == 200


@pytest.mark.requirement("STATE-25", "STATE-12")
async def test_calls_that_reached_somebody_or_nobody_are_completed_alike(tenant: Tenant) -> None:
    rows = [row for index, outcome in enumerate(STEERED) for row in people(1, first=index, sim_outcome=outcome)]
    ended = await run(tenant, rows, retry_policy=ONCE)
    assert (ended.status, ended.status_reason) == ("completed", "audience_exhausted")
    listed = [call async for call in tenant.client.calls.list(deployment_id=ended.id)]
    assert sorted(str(call.outcome) for call in listed) == sorted(STEERED)
    assert {call.status for call in listed} == {"completed"}


@pytest.mark.requirement("STATE-19")
async def test_outside_its_hours_a_deployment_stays_active_and_says_when_it_dials(
    database_url: str, tmp_path: Path
) -> None:
    settings = replace(ServiceSettings(data=tmp_path, database_url=database_url), sim_time_scale=1.0)
    async with open_service(database_url, tmp_path, settings=settings) as tenant:
        tomorrow = moment(tenant.services.clock.now_ms()) + timedelta(days=1)
        after = tomorrow + timedelta(days=1)  # a window that is not near, whatever the hour of this test
        hours = CallingHours(
            timezone_mode="fixed",
            timezone="UTC",
            windows=[Window(days=[WEEKDAYS[after.weekday()]], start="09:00", end="17:00")],
        )
        made = await started(tenant, people(2), calling_hours=hours)
        opens = datetime(after.year, after.month, after.day, 9, tzinfo=UTC)
        with anyio.fail_after(20):
            while (seen := await tenant.client.deployments.get(id=made.id)).next_dial_at != opens:
                assert seen.status == "active"
                await anyio.sleep(0.01)
        assert (seen.status, seen.stats.attempts) == ("active", 0)


@pytest.mark.requirement("STATE-29")
@pytest.mark.service(workers=False)
async def test_a_contact_has_one_of_nine_states_or_is_held(tenant: Tenant, http: AsyncClient) -> None:
    assert get_args(ContactStatus) == CONTACTS
    made = (await resources.draft(tenant)).deployment
    await tenant.client.deployments.start(id=made.id)
    path = f"/v1/deployments/{made.id}/contacts"
    for status in CONTACTS:
        found = (await http.get(path, params={"filter[status]": status})).json()["data"]
        assert [contact["status"] for contact in found] == ([status] if status == "pending" else [])
    refused(await http.get(path, params={"filter[status]": "done"}), 400, "invalid_field", "filter[status]")
