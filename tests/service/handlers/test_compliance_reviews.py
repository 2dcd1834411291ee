"""Compliance reviews through the typed client: what blocks, what a decision changes, and who decided."""

from typing import Any

import pytest

from callwright.contract.compliance_reviews import ComplianceReview
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import Compliance
from callwright.service.dialling.queue import LOCKED
from callwright.service.dialling.stops import reviews
from tests.support import resources
from tests.support.campaigns import draft, people
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal
from tests.support.reviews import open_review
from tests.support.service import Tenant
from tests.support.sweeps import sweep_after

ATTESTED = Compliance(purpose="marketing", consent_attested=True)


async def of(tenant: Tenant, subject_id: str) -> list[ComplianceReview]:
    return (await tenant.client.compliance_reviews.list(subject_id=subject_id)).data


async def offers(tenant: Tenant, name: str = "Offers", **compliance: Any) -> Deployment:
    """A marketing draft of one person."""
    given = Compliance(purpose="marketing", **compliance)
    return await draft(tenant, people(1), name, compliance=given)


async def waiting(tenant: Tenant) -> tuple[Deployment, ComplianceReview]:
    """A campaign that was started and waits for the review of its consent."""
    made = await offers(tenant, consent_attested=True)
    started = await tenant.client.deployments.start(id=made.id)
    (review,) = await of(tenant, made.id)
    return started, review


async def tell_of(tenant: Tenant) -> list[tuple[str, str]]:
    """The severity and category of each event about a review, the newest first."""
    found = (await tenant.client.events.list(type=["compliance.action_required"])).data
    told = [(await tenant.client.events.get(id=event.id)).data for event in found]
    return [(data["severity"], data["category"]) for data in told]


@pytest.mark.requirement("REVIEW-01")
async def test_marketing_without_consent_is_not_started_and_the_preview_says_so(tenant: Tenant) -> None:
    made = await offers(tenant)
    async with refusal(422, "compliance_rejected", "compliance") as found:
        await tenant.client.deployments.start(id=made.id)
    assert found[0].details["reasons"] == ["consent_missing"]
    (problem,) = (await tenant.client.deployments.preview(id=made.id)).problems
    assert "consent_column" in problem
    assert "consent_reference" in problem
    assert await of(tenant, made.id) == []
    assert (await tenant.client.deployments.get(id=made.id)).status == "draft"


async def test_marketing_with_a_reference_to_the_consents_starts_at_once(tenant: Tenant) -> None:
    made = await offers(tenant, consent_attested=True, consent_reference="consents-2026-05.pdf")
    assert (await tenant.client.deployments.start(id=made.id)).status == "active"
    assert await of(tenant, made.id) == []


async def test_calls_that_are_no_marketing_need_no_consent(tenant: Tenant) -> None:
    made = await draft(tenant, people(1), compliance=Compliance(purpose="survey"))
    assert (await tenant.client.deployments.start(id=made.id)).status == "active"


@pytest.mark.requirement("REVIEW-02")
async def test_attested_consent_without_a_reference_waits_for_an_approval_and_then_for_a_resume(tenant: Tenant) -> None:
    made = await offers(tenant, consent_attested=True)
    (warning,) = (await tenant.client.deployments.preview(id=made.id)).warnings
    assert "review" in warning
    started = await tenant.client.deployments.start(id=made.id)
    assert (started.status, started.status_reason, started.started_at) == ("paused", "compliance", None)
    (review,) = await of(tenant, made.id)
    assert (review.category, review.status, review.blocking) == ("consent_missing", "open", True)
    async with refusal(422, "compliance_rejected") as found:
        await tenant.client.deployments.resume(id=made.id)
    assert found[0].details["review_id"] == review.id
    await tenant.client.compliance_reviews.decide(id=review.id, decision="approve", note="Seen on paper.")
    assert (await tenant.client.deployments.get(id=made.id)).status == "paused"
    resumed = await tenant.client.deployments.resume(id=made.id)
    assert (resumed.status, resumed.stats.contacts) == ("active", 1)
    assert resumed.agent_snapshot is not None


async def test_a_resume_after_the_reference_was_taken_away_waits_for_a_review_too(tenant: Tenant) -> None:
    made = await offers(tenant, consent_attested=True, consent_reference="consents.pdf")
    await tenant.client.deployments.start(id=made.id)
    await tenant.client.deployments.pause(id=made.id)
    await tenant.client.deployments.update(id=made.id, compliance=ATTESTED)
    held = await tenant.client.deployments.resume(id=made.id)
    assert (held.status, held.status_reason) == ("paused", "compliance")
    assert [review.category for review in await of(tenant, made.id)] == ["consent_missing"]
    assert not (await tenant.client.events.list(type=["deployment.resumed"])).data


@pytest.mark.requirement("REVIEW-05")
async def test_a_blocking_review_is_among_the_problems_of_a_preview_and_refuses_the_start(tenant: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment
    number_id = made.phone_number_ids[0]
    for subject in (("deployment", made.id), ("phone_number", number_id), ("organization", tenant.org_id)):
        about = {"subject_type": subject[0], "subject_id": subject[1], "blocking": True}
        review_id = await open_review(tenant, made.id, **about)
        (problem,) = (await tenant.client.deployments.preview(id=made.id)).problems
        assert review_id in problem
        async with refusal(422, "compliance_rejected") as found:
            await tenant.client.deployments.start(id=made.id)
        assert found[0].details["reasons"] == ["unknown_country"]
        assert found[0].details["review_id"] == review_id
        await tenant.client.compliance_reviews.decide(id=review_id, decision="approve")
    assert (await tenant.client.deployments.start(id=made.id)).status == "active"


async def test_a_review_that_blocks_nothing_lets_a_campaign_run(tenant: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment
    await tenant.client.deployments.start(id=made.id)
    await open_review(tenant, made.id)
    assert (await tenant.client.deployments.get(id=made.id)).status == "active"
    assert (await tenant.client.overview.get()).undecided_reviews == 1


@pytest.mark.requirement("REVIEW-09")
async def test_newer_rules_pause_a_campaign_once_whoever_finds_them(tenant: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment
    await tenant.client.deployments.start(id=made.id)

    async def changed() -> str | None:
        row = await tenant.database.read(lambda connection: connection.execute(LOCKED, {"id": made.id}).one())
        services = tenant.services
        given: dict[str, Any] = {
            "version": "2026.12",
            "changed": ["FR.hours"],
            "now_ms": services.clock.now_ms(),
            "public_url": None,
        }
        return await tenant.database.write(reviews.rules_changed, services.ids, row, **given)

    first = await changed()
    assert first is not None
    assert await changed() is None
    paused = await tenant.client.deployments.get(id=made.id)
    assert (paused.status, paused.status_reason) == ("paused", "compliance")
    assert await tell_of(tenant) == [("medium", "rules_changed")]
    assert len((await tenant.client.events.list(type=["deployment.paused"])).data) == 1
    review = await tenant.client.compliance_reviews.get(id=first)
    assert review.facts == {"rules_version": "2026.12", "rules": ["FR.hours"]}
    assert "version 2026.12 (FR.hours)" in review.message


async def test_contacts_in_a_country_without_rules_are_reviewed(tenant: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment
    await tenant.client.deployments.start(id=made.id)
    row = await tenant.database.read(lambda connection: connection.execute(LOCKED, {"id": made.id}).one())
    services = tenant.services
    given: dict[str, Any] = {"countries": ["LI"], "blocking": True, "now_ms": services.clock.now_ms()}
    given |= {"public_url": "https://calls.example"}
    await tenant.database.write(reviews.unknown_countries, services.ids, row, **given)
    (review,) = await of(tenant, made.id)
    assert (review.facts, review.blocking) == ({"countries": ["LI"]}, True)
    (event,) = (await tenant.client.events.list(type=["compliance.action_required"])).data
    told = (await tenant.client.events.get(id=event.id)).data
    assert told["action_url"] == f"https://calls.example/v1/compliance_reviews/{review.id}"


async def test_a_review_of_the_organization_pauses_every_campaign_that_dials(tenant: Tenant) -> None:
    made = [(await resources.draft(tenant, name)).deployment for name in ("One", "Two")]
    await tenant.client.deployments.start(id=made[0].id)
    await open_review(tenant, made[0].id, subject_type="organization", subject_id=tenant.org_id, blocking=True)
    found = [(await tenant.client.deployments.get(id=one.id)).status for one in made]
    assert found == ["paused", "draft"]


@pytest.mark.requirement("REVIEW-06")
async def test_after_a_rejection_a_campaign_never_goes_on_and_its_clone_does(tenant: Tenant) -> None:
    held, review = await waiting(tenant)
    await tenant.client.compliance_reviews.decide(id=review.id, decision="reject", note="No consents.")
    await tenant.client.deployments.update(
        id=held.id, compliance=ATTESTED.model_copy(update={"consent_reference": "found.pdf"})
    )
    async with refusal(422, "compliance_rejected") as found:
        await tenant.client.deployments.resume(id=held.id)
    assert found[0].details["review_id"] == review.id
    copy = await tenant.client.deployments.clone(id=held.id, name="Again")
    assert (await tenant.client.deployments.start(id=copy.id)).status == "active"
    assert (await tenant.client.deployments.cancel(id=held.id)).status == "cancelled"


@pytest.mark.requirement("REVIEW-07")
async def test_the_same_decision_twice_is_one_and_the_other_one_names_who_decided(
    tenant: Tenant, http: AsyncClient
) -> None:
    _, review = await waiting(tenant)
    decided = await tenant.client.compliance_reviews.decide(id=review.id, decision="approve", note="Seen.")
    assert (decided.status, decided.decision_note) == ("approved", "Seen.")
    assert decided.decided_by is not None
    assert decided.decided_by.startswith("key_")
    again = await tenant.client.compliance_reviews.decide(id=review.id, decision="approve", note="Other words.")
    assert again == decided
    path = f"/v1/compliance_reviews/{review.id}/decide"
    answer = await http.post(path, json={"decision": "reject"})
    error = refused(answer, 409, "review_already_decided")
    assert (error["current_status"], error["decided_by"]) == ("approved", decided.decided_by)
    entries = (await tenant.client.audit_log.list(subject_id=review.id, action="decide_compliance_review")).data
    assert entries[-1].changes["status"] == {"before": "open", "after": "approved"}
    assert entries[-1].actor_id == decided.decided_by


@pytest.mark.requirement("REVIEW-08")
async def test_a_review_past_due_expires_once_blocks_as_before_and_can_be_decided(tenant: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment
    await tenant.client.deployments.start(id=made.id)
    review_id = await open_review(tenant, made.id, category="short_calls", blocking=True)
    await sweep_after(tenant, 0.9)
    assert (await tenant.client.compliance_reviews.get(id=review_id)).status == "open"
    for _ in range(2):
        await sweep_after(tenant, 1.1)
    expired = await tenant.client.compliance_reviews.get(id=review_id)
    assert (expired.status, expired.severity) == ("expired", "high")
    assert await tell_of(tenant) == [("high", "short_calls"), ("medium", "short_calls")]
    async with refusal(422, "compliance_rejected"):
        await tenant.client.deployments.resume(id=made.id)
    await tenant.client.compliance_reviews.decide(id=review_id, decision="approve")
    assert (await tenant.client.deployments.resume(id=made.id)).status == "active"


async def test_more_reviews_than_one_unit_expires_are_all_expired_by_one_sweep(tenant: Tenant) -> None:
    for index in range(101):
        await open_review(tenant, f"dep_{index}")
    await sweep_after(tenant, 8)
    found = tenant.client.compliance_reviews.list(status=["expired"], per_page=200)
    assert (await found).pagination.total == 101


async def test_each_filter_of_reviews_leaves_what_it_names(tenant: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment
    first = await open_review(tenant, made.id)
    second = await open_review(tenant, made.id, category="rules_changed")
    third = await open_review(tenant, "dep_other")
    await tenant.client.compliance_reviews.decide(id=second, decision="reject")

    async def ids(**filters: Any) -> set[str]:
        return {review.id async for review in tenant.client.compliance_reviews.list(per_page=1, **filters)}

    assert await ids() == {third, second, first}
    assert await ids(status=["rejected"]) == {second}
    assert await ids(category=["unknown_country"]) == {third, first}
    assert await ids(subject_id=made.id) == {second, first}
    newest = await tenant.client.compliance_reviews.get(id=third)
    assert await ids(created_before=newest.created_at.replace(year=2020)) == set()
    assert await ids(created_from=newest.created_at.replace(year=2020)) == {third, second, first}


async def test_a_decision_that_is_none_is_refused_by_its_field(tenant: Tenant, http: AsyncClient) -> None:
    _, review = await waiting(tenant)
    path = f"/v1/compliance_reviews/{review.id}/decide"
    refused(await http.post(path, json={"decision": "maybe"}), 400, "invalid_field", "decision")
    refused(await http.post(path, json={}), 400, "missing_field", "decision")
    refused(await http.post(path, json={"decision": "reject", "note": "n" * 1_001}), 400, "invalid_field", "note")
    assert (await tenant.client.compliance_reviews.get(id=review.id)).status == "open"
