"""Campaigns that pause because of their own calls: many opt-outs, many calls that end at once."""

from typing import Any

import pytest

from callwright.contract.compliance_reviews import ComplianceReview
from callwright.contract.deployments.deployments import Deployment
from callwright.service.dialling.eligibility.do_not_call import clear_simulated
from tests.support.campaigns import ONCE, audience_of, people, started
from tests.support.resources import refusal
from tests.support.scripted_network import driven
from tests.support.service import Tenant

TALKS: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}


async def of(tenant: Tenant, deployment_id: str) -> list[ComplianceReview]:
    """The reviews of a campaign, the newest first."""
    return (await tenant.client.compliance_reviews.list(subject_id=deployment_id)).data


async def begun(tenant: Tenant, count: int, **fields: Any) -> Deployment:
    return await started(tenant, people(count, **TALKS), retry_policy=ONCE, **fields)


async def more(tenant: Tenant, campaign: Deployment, count: int, *, first: int) -> None:
    """Adds people to a paused campaign and resumes it."""
    await tenant.client.audiences.add_rows(id=audience_of(campaign), rows=people(count, first=first, **TALKS))
    await tenant.client.deployments.resume(id=campaign.id)


async def approve(tenant: Tenant, deployment_id: str) -> None:
    await tenant.client.compliance_reviews.decide(id=(await of(tenant, deployment_id))[0].id, decision="approve")


@pytest.mark.requirement("REVIEW-03", "EVENT-19")
async def test_more_than_one_opt_out_in_twenty_pauses_the_campaign_and_is_told(tenant: Tenant) -> None:
    made = await begun(tenant, 20)
    paused = await driven(tenant, made.id, opted_out=[3, 12, 17])
    assert (paused.status, paused.status_reason) == ("paused", "compliance")
    (review,) = await of(tenant, made.id)
    assert (review.category, review.severity, review.status) == ("opt_out_rate", "high", "open")
    assert review.facts == {"calls": 20, "found": 3, "percent": 15.0}
    assert (review.blocking, review.simulated) == (True, True)
    (event,) = (await tenant.client.events.list(type=["compliance.action_required"])).data
    told = (await tenant.client.events.get(id=event.id)).data
    assert told["review_id"] == review.id
    assert told["subject"] == {"type": "deployment", "id": made.id}
    assert told["action_url"] == f"/v1/compliance_reviews/{review.id}"
    opened = (await tenant.client.audit_log.list(subject_id=review.id)).data
    assert [(entry.action, entry.actor_id) for entry in opened] == [("compliance_review.opened", "platform")]


async def test_one_opt_out_in_twenty_and_two_of_nineteen_calls_pause_nothing(tenant: Tenant) -> None:
    for name, count, opted_out in (("One in ten", 20, [3, 12]), ("Few", 19, [3, 12])):
        made = await begun(tenant, count, name=name)
        assert (await driven(tenant, made.id, opted_out=opted_out)).status == "completed", name
        assert await of(tenant, made.id) == []
        await tenant.database.write(clear_simulated, tenant.org_id)


@pytest.mark.requirement("REVIEW-04")
async def test_more_than_two_short_calls_in_five_pause_the_campaign(tenant: Tenant) -> None:
    made = await begun(tenant, 20)
    paused = await driven(tenant, made.id, short=range(9))
    assert (paused.status, paused.status_reason) == ("paused", "compliance")
    (review,) = await of(tenant, made.id)
    assert (review.category, review.severity) == ("short_calls", "medium")
    assert review.facts == {"calls": 20, "found": 9, "percent": 45.0}


async def test_two_short_calls_in_five_pause_nothing(tenant: Tenant) -> None:
    made = await begun(tenant, 20)
    assert (await driven(tenant, made.id, short=range(8))).status == "completed"
    assert await of(tenant, made.id) == []


@pytest.mark.requirement("REVIEW-09")
async def test_while_a_review_waits_no_second_one_is_opened(tenant: Tenant) -> None:
    made = await begun(tenant, 20)
    paused = await driven(tenant, made.id, opted_out=[3, 12, 17], short=[14, 15, 16, 18, 19])
    (first,) = await of(tenant, made.id)
    async with refusal(422, "compliance_rejected"):
        await more(tenant, paused, 5, first=20)
    assert [review.id for review in await of(tenant, made.id)] == [first.id]
    assert len((await tenant.client.events.list(type=["compliance.action_required"])).data) == 1


@pytest.mark.requirement("REVIEW-10")
async def test_an_approval_of_opt_outs_holds_for_the_next_two_hundred_answered_calls(tenant: Tenant) -> None:
    made = await begun(tenant, 20)
    paused = await driven(tenant, made.id, opted_out=[3, 12, 17])
    await approve(tenant, made.id)
    await more(tenant, paused, 199, first=20)
    ended = await driven(tenant, made.id, opted_out=range(20, 219))
    assert ended.status == "completed"
    assert [review.status for review in await of(tenant, made.id)] == ["approved"]


@pytest.mark.requirement("REVIEW-10")
async def test_after_two_hundred_further_calls_with_many_opt_outs_a_second_review_is_opened(tenant: Tenant) -> None:
    made = await begun(tenant, 20)
    paused = await driven(tenant, made.id, opted_out=[3, 12, 17])
    await approve(tenant, made.id)
    await more(tenant, paused, 200, first=20)
    again = await driven(tenant, made.id, opted_out=range(199, 220))
    assert (again.status, again.status_reason) == ("paused", "compliance")
    newest, _ = await of(tenant, made.id)
    assert (newest.status, newest.facts) == ("open", {"calls": 200, "found": 21, "percent": 10.5})


@pytest.mark.requirement("REVIEW-10")
async def test_an_approval_of_short_calls_holds_for_the_next_twenty_answered_calls(tenant: Tenant) -> None:
    made = await begun(tenant, 20)
    paused = await driven(tenant, made.id, short=range(20))
    await approve(tenant, made.id)
    await more(tenant, paused, 1, first=20)
    assert (await driven(tenant, made.id, short=[20])).status == "completed"
    assert len(await of(tenant, made.id)) == 1
