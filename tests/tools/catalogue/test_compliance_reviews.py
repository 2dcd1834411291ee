"""The tools of compliance reviews, and what other tools say of a review."""

from tests.support.tools import samples
from tests.support.tools.lookups import text_from
from tests.support.tools.review_samples import review


async def test_a_review_is_one_line_with_what_was_found_and_by_when() -> None:
    text = await text_from("list_compliance_reviews", {}, {"list_compliance_reviews": samples.page([review()])})
    assert text.splitlines() == [
        "rev_1  opt_out_rate  high  open  deployment dep_1  due 2026-11-21 09:30Z  "
        "12 of the newest 200 answered calls (6.0 %) ended with the wish not to be called again."
    ]


async def test_one_review_has_its_figures_and_says_that_it_blocks() -> None:
    text = await text_from(
        "get_compliance_review", {"compliance_review_id": "rev_1"}, {"get_compliance_review": review()}
    )
    assert "facts: calls 200, found 12, percent 6.0" in text
    assert "Nothing that it concerns starts or resumes before its approval." in text


async def test_an_approval_says_that_nothing_was_resumed_and_a_rejection_that_nothing_will_be() -> None:
    given = {"compliance_review_id": "rev_1", "decision": "reject"}
    rejected = await text_from(
        "decide_compliance_review", given, {"decide_compliance_review": review(status="rejected")}
    )
    assert "It never goes on." in rejected
    assert "decided by key_1" in rejected
    approved = await text_from(
        "decide_compliance_review", given, {"decide_compliance_review": review(status="approved")}
    )
    assert "Nothing was resumed." in approved


async def test_a_campaign_that_a_review_paused_says_that_a_person_decides() -> None:
    paused = samples.deployment(status="paused", status_reason="compliance")
    text = await text_from("get_deployment", {"deployment_id": "dep_1"}, {"get_deployment": paused})
    assert "a person decides its compliance review" in text
    assert "list_compliance_reviews" in text
