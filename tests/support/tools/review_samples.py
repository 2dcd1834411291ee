"""Good answers about compliance reviews, and good arguments."""

from collections.abc import Callable, Mapping
from typing import Any

from callwright.contract.compliance_reviews import ComplianceReview, ReviewStatus, ReviewSubject
from callwright.contract.declaration.model import Resource
from tests.support.tools.finding_samples import AT


def review(status: ReviewStatus = "open") -> ComplianceReview:
    """Too many opt-outs in a campaign."""
    decided = status in ("approved", "rejected")
    return ComplianceReview(
        id="rev_1",
        category="opt_out_rate",
        severity="high",
        status=status,
        subject=ReviewSubject(type="deployment", id="dep_1"),
        message="12 of the newest 200 answered calls (6.0 %) ended with the wish not to be called again.",
        facts={"calls": 200, "found": 12, "percent": 6.0},
        blocking=True,
        simulated=True,
        created_at=AT,
        due_at=AT,
        decided_at=AT if decided else None,
        decided_by="key_1" if decided else None,
    )


LISTED: Mapping[str, Callable[[], Resource]] = {"list_compliance_reviews": review}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "get_compliance_review": {"compliance_review_id": "rev_1"},
    "decide_compliance_review": {"compliance_review_id": "rev_1", "decision": "approve", "note": "Seen."},
}


def singles() -> dict[str, Resource]:
    """An answer for every operation that does not answer with a list."""
    return {"get_compliance_review": review(), "decide_compliance_review": review(status="approved")}
