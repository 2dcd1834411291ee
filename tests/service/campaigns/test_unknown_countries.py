"""Campaigns with people in countries that have no rules of their own: told of once, and held where that is serious."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from callwright.contract.deployments.dialling import Compliance
from callwright.service.platform.clock.clock import SystemClock, milliseconds
from tests.support.campaigns import audience_of, draft, people, working
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service

pytestmark = pytest.mark.usefixtures("shipped_law")
NORWEGIAN: dict[str, Any] = {"phone_number": "+4722114300", "first_name": "A"}
SWISS: dict[str, Any] = {"phone_number": "+41446681800", "first_name": "B"}
MARKETING = Compliance(purpose="marketing", consent_attested=True, consent_reference="consents.pdf")


def on_friday() -> SystemClock:
    """A clock that begins at noon, UTC."""
    return SystemClock(milliseconds(datetime(2026, 12, 4, 12, tzinfo=UTC)))


async def reviews_of(tenant: Tenant, deployment_id: str) -> Sequence[tuple[Any, str, bool]]:
    found = await tenant.client.compliance_reviews.list(subject_id=deployment_id)
    assert {one.category for one in found.data} <= {"unknown_country"}
    return [(one.facts["countries"], one.status, one.blocking) for one in found.data]


async def told(tenant: Tenant) -> int:
    return len((await tenant.client.events.list(type=["compliance.action_required"])).data)


@pytest.mark.requirement("RULE-08")
async def test_a_simulated_campaign_for_information_starts_and_is_told_of_once(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False, clock=on_friday()) as tenant:
        made = await draft(tenant, [NORWEGIAN, *people(2)])
        warnings = (await tenant.client.deployments.preview(id=made.id)).warnings
        assert "there are no rules of calling for NO (1 person): the default's hold" in warnings
        assert (await tenant.client.deployments.start(id=made.id)).status == "active"
        assert await reviews_of(tenant, made.id) == [(["NO"], "open", False)]
        await tenant.client.deployments.pause(id=made.id)
        assert (await tenant.client.deployments.resume(id=made.id)).status == "active"
        assert await told(tenant) == 1
        await tenant.client.deployments.pause(id=made.id)
        await tenant.client.audiences.add_rows(id=audience_of(made), rows=[SWISS])
        assert (await tenant.client.deployments.resume(id=made.id)).status == "active"
        assert await reviews_of(tenant, made.id) == [(["CH", "NO"], "open", False)]
        assert await told(tenant) == 2


@pytest.mark.requirement("RULE-08")
async def test_a_marketing_campaign_waits_for_an_approval_of_each_set_of_countries(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False, clock=on_friday()) as tenant:
        made = await draft(tenant, [NORWEGIAN], compliance=MARKETING)
        (warning,) = (await tenant.client.deployments.preview(id=made.id)).warnings
        assert warning.endswith("a start waits for a review")
        held = await tenant.client.deployments.start(id=made.id)
        assert (held.status, held.status_reason, held.started_at) == ("paused", "compliance", None)
        async with refusal(422, "compliance_rejected"):
            await tenant.client.deployments.resume(id=made.id)
        await approve(tenant, made.id)
        assert (await tenant.client.deployments.resume(id=made.id)).status == "active"
        await tenant.client.audiences.add_rows(id=audience_of(made), rows=[SWISS])
        held = await tenant.client.deployments.get(id=made.id)
        assert (held.status, held.status_reason) == ("paused", "compliance")
        async with refusal(422, "compliance_rejected"):
            await tenant.client.deployments.resume(id=made.id)
        assert await reviews_of(tenant, made.id) == [(["CH", "NO"], "open", True), (["NO"], "approved", True)]
        await approve(tenant, made.id)
        assert (await tenant.client.deployments.resume(id=made.id)).status == "active"


async def test_a_scheduled_campaign_is_held_when_it_would_begin(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False, clock=on_friday()) as tenant:
        start_at = datetime(2026, 12, 4, 12, 0, 2, tzinfo=UTC)
        made = await draft(tenant, people(1), compliance=MARKETING, start_at=start_at)
        assert (await tenant.client.deployments.start(id=made.id)).status == "scheduled"
        await tenant.client.audiences.add_rows(id=audience_of(made), rows=[NORWEGIAN])
        async with working(tenant):
            held = await tenant.ended(made.id)
        assert (held.status, held.status_reason, held.started_at) == ("paused", "compliance", None)
        assert await reviews_of(tenant, made.id) == [(["NO"], "open", True)]


async def test_a_campaign_that_becomes_one_for_marketing_is_held_by_the_review_that_only_told(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False, clock=on_friday()) as tenant:
        made = await draft(tenant, [NORWEGIAN])
        await tenant.client.deployments.start(id=made.id)
        await tenant.client.deployments.pause(id=made.id)
        await tenant.client.deployments.update(id=made.id, compliance=MARKETING)
        assert (await tenant.client.deployments.resume(id=made.id)).status_reason == "compliance"
        assert await reviews_of(tenant, made.id) == [(["NO"], "open", True)]


async def test_people_in_territories_of_a_country_with_rules_are_not_told_of(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False, clock=on_friday()) as tenant:
        made = await draft(tenant, people(1, area="787"))
        assert (await tenant.client.deployments.preview(id=made.id)).warnings == []
        await tenant.client.deployments.start(id=made.id)
        assert await reviews_of(tenant, made.id) == []


async def approve(tenant: Tenant, deployment_id: str) -> None:
    """Approves the newest review of a campaign."""
    review = (await tenant.client.compliance_reviews.list(subject_id=deployment_id)).data[0]
    await tenant.client.compliance_reviews.decide(id=review.id, decision="approve")
