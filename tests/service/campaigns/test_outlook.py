"""What a preview says of whom rules defer, of when the last is called and who is missed, and starts refused by name."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from callwright.contract.deployments.dialling import CallingHours, Window
from tests.support.campaigns import audience_of, called_by_campaigns, draft, people
from tests.support.clock_set_by_test import clock_at
from tests.support.resources import refusal
from tests.support.service import open_service

pytestmark = pytest.mark.usefixtures("shipped_law")
FRIDAY = datetime(2026, 12, 4, 18, tzinfo=UTC)
SUNDAY_NIGHT = CallingHours(windows=[Window(days=["sun"], start="02:00", end="03:00")])
ANSWERS: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}
SLOW: dict[str, Any] = {"max_concurrency": 1, "calls_per_second": 0.1}


@pytest.mark.requirement("RULE-09")
async def test_a_preview_says_whom_which_rule_defers_and_until_when(database_url: str, tmp_path: Path) -> None:
    """At 18:00 UTC on a Friday it is 13:00 in Florida, and 08:00 in Hawaii, where the default begins at nine."""
    async with open_service(database_url, tmp_path, workers=False, clock=clock_at(FRIDAY)) as tenant:
        made = await draft(tenant, [*people(3, area="305"), *people(2, area="808")])
        seen = await tenant.client.deployments.preview(id=made.id)
        assert [(by.rule, by.count) for by in seen.deferred] == [("*.hours", 2)]
        assert seen.deferred[0].until == FRIDAY + timedelta(hours=1)
        assert seen.eligible == 5
        assert seen.last_call_at is not None
        assert seen.last_call_at >= seen.deferred[0].until


async def test_earlier_calls_to_a_number_defer_its_person_in_a_preview_too(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False, clock=clock_at(FRIDAY)) as tenant:
        await called_by_campaigns(tenant, people(1, area="305", **ANSWERS), 3)
        last = await draft(tenant, people(1, area="305"), "Last")
        seen = await tenant.client.deployments.preview(id=last.id)
        assert [(by.rule, by.count) for by in seen.deferred] == [("*.caps-day", 1)]
        assert seen.next_call_at is not None
        assert seen.next_call_at > FRIDAY + timedelta(hours=20)


@pytest.mark.requirement("RULE-10")
async def test_calling_hours_that_no_rule_allows_are_refused_with_the_rule(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False, clock=clock_at(FRIDAY)) as tenant:
        made = await draft(tenant, people(2), calling_hours=SUNDAY_NIGHT)
        seen = await tenant.client.deployments.preview(id=made.id)
        assert (seen.eligible, {one.reason: one.count for one in seen.blocked}["calling_hours"]) == (0, 2)
        assert any("*.hours" in problem for problem in seen.problems)
        async with refusal(422, "compliance_rejected", "calling_hours") as found:
            await tenant.client.deployments.start(id=made.id)
        assert found[0].details == {"reasons": ["calling_hours"], "rule": "*.hours"}
        assert (await tenant.client.deployments.get(id=made.id)).status == "draft"


@pytest.mark.requirement("RULE-10")
async def test_an_end_before_anybody_can_be_called_is_refused(database_url: str, tmp_path: Path) -> None:
    night = FRIDAY.replace(hour=8)
    async with open_service(database_url, tmp_path, workers=False, clock=clock_at(night)) as tenant:
        made = await draft(tenant, people(2), end_at=night + timedelta(hours=2))
        async with refusal(422, "compliance_rejected", "end_at") as found:
            await tenant.client.deployments.start(id=made.id)
        assert "2026-12-04 17:00 UTC" in found[0].message
        await tenant.client.deployments.update(id=made.id, end_at=night + timedelta(hours=12))
        assert (await tenant.client.deployments.start(id=made.id)).status == "active"


async def test_a_preview_warns_of_people_who_are_not_called_before_the_end(database_url: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"workers": False, "extra_dollars": 1_000, "clock": clock_at(FRIDAY)}
    async with open_service(database_url, tmp_path, **given) as tenant:
        made = await draft(tenant, people(180, area="305"), end_at=FRIDAY + timedelta(hours=1), **SLOW)
        warnings = (await tenant.client.deployments.preview(id=made.id)).warnings
        assert "about 90 of 180 will probably not be called before end_at; set a later end_at" in warnings
        in_time = await draft(tenant, [], "In time", audience_id=audience_of(made), end_at=FRIDAY + timedelta(hours=4))
        warnings = (await tenant.client.deployments.preview(id=in_time.id)).warnings
        assert not any("end_at" in warning for warning in warnings)


@pytest.mark.parametrize("state", ["draft", "scheduled", "active", "paused"])
async def test_an_audience_and_a_number_of_an_unfinished_campaign_stay(
    state: str, database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False, clock=clock_at(FRIDAY)) as tenant:
        later = FRIDAY + timedelta(hours=1) if state == "scheduled" else None
        made = await draft(tenant, people(1, area="305"), start_at=later)
        if state != "draft":
            await tenant.client.deployments.start(id=made.id)
        if state == "paused":
            await tenant.client.deployments.pause(id=made.id)
        assert (await tenant.client.deployments.get(id=made.id)).status == state
        async with refusal(409, "audience_in_use"):
            await tenant.client.audiences.delete(id=audience_of(made))
        async with refusal(409, "phone_number_in_use"):
            await tenant.client.phone_numbers.release(id=made.phone_number_ids[0])
