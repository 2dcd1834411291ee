"""A review is approved through a tool only after a person has read what was found and said yes."""

import pytest

from tests.journeys.hosts import Host
from tests.support import resources
from tests.support.reviews import open_review
from tests.support.service import Tenant
from tests.support.tools.results import text_of

MESSAGE = "Look at the list."
pytestmark = pytest.mark.requirement("REVIEW-11")


async def review(tenant: Tenant) -> str:
    """The id of a review that blocks a campaign."""
    made = (await resources.draft(tenant)).deployment
    return await open_review(tenant, made.id, message=MESSAGE, blocking=True)


async def status_of(tenant: Tenant, review_id: str) -> str:
    return (await tenant.client.compliance_reviews.get(id=review_id)).status


async def test_what_the_person_reads_and_accepts_is_approved(tenant: Tenant, found: Host) -> None:
    review_id = await review(tenant)
    decided = await found.call("decide_compliance_review", compliance_review_id=review_id, decision="approve")
    assert not decided.is_error, text_of(decided)
    assert "resume_deployment" in text_of(decided)
    (asked,) = found.person.asked
    assert review_id in asked
    assert MESSAGE in asked
    assert await status_of(tenant, review_id) == "approved"


@pytest.mark.parametrize("answer", ["refuse", "decline", "cancel"])
async def test_what_the_person_does_not_accept_stays_open(tenant: Tenant, found: Host) -> None:
    review_id = await review(tenant)
    refused = await found.call("decide_compliance_review", compliance_review_id=review_id, decision="approve")
    assert refused.is_error
    assert "did not agree" in text_of(refused)
    assert await status_of(tenant, review_id) == "open"


@pytest.mark.parametrize("answer", [None])
async def test_where_nobody_can_be_asked_the_sentence_has_to_come_back(tenant: Tenant, found: Host) -> None:
    review_id = await review(tenant)
    given = {"compliance_review_id": review_id, "decision": "approve"}
    unsaid = await found.call("decide_compliance_review", **given)
    assert unsaid.is_error
    assert await status_of(tenant, review_id) == "open"
    sentence = text_of(unsaid).split("«")[1].split("»")[0]
    said = await found.call("decide_compliance_review", **given, person_agreed_to=sentence)
    assert not said.is_error, text_of(said)
    assert await status_of(tenant, review_id) == "approved"


async def test_nobody_is_asked_about_a_rejection_after_which_nobody_is_called(tenant: Tenant, found: Host) -> None:
    review_id = await review(tenant)
    decided = await found.call("decide_compliance_review", compliance_review_id=review_id, decision="reject")
    assert not decided.is_error, text_of(decided)
    assert found.person.asked == []
    assert await status_of(tenant, review_id) == "rejected"


async def test_what_is_decided_already_is_said_without_a_question(tenant: Tenant, found: Host) -> None:
    review_id = await review(tenant)
    await tenant.client.compliance_reviews.decide(id=review_id, decision="reject")
    refused = await found.call("decide_compliance_review", compliance_review_id=review_id, decision="approve")
    assert refused.is_error
    assert "was rejected by" in text_of(refused)
    assert found.person.asked == []
