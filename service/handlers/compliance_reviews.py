"""Compliance reviews: read, and decided."""

import json
from typing import Any

from sqlalchemy import Row, bindparam, select

from callwright.contract import compliance_reviews as contract
from callwright.contract.declaration.pagination import Page
from callwright.contract.problems import REVIEW_ALREADY_DECIDED
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.clock.clock import moment
from callwright.service.platform.database.listing import Listing
from callwright.service.platform.json_text import json_text
from callwright.service.platform.refusals import Refusal
from callwright.service.tables import compliance_reviews as rows
from callwright.service.tables.schema import compliance_reviews, deployments

_R = compliance_reviews.c
_ONE = select(compliance_reviews).where(_R.id == bindparam("id"), _R.org_id == bindparam("org"))
_SO_FAR = select(deployments.c.answered, deployments.c.clock_ms).where(deployments.c.id == bindparam("id"))
_BECOMES = {"approve": "approved", "reject": "rejected"}
_UNDECIDED = ("open", "expired")


@handles(contract.list_compliance_reviews)
def list_compliance_reviews(
    asked: contract.ListComplianceReviews, context: RequestContext
) -> Page[contract.ComplianceReview]:
    """A page of reviews."""
    columns = {name: _R[name] for name in ("created_at", "status", "category", "subject_id")}
    found = select(compliance_reviews).where(_R.org_id == context.org_id)
    listing = Listing(contract.list_compliance_reviews, found, columns, _R.id, countable=("created_at", "subject_id"))
    return context.page(listing, asked, _to_resource)


@handles(contract.get_compliance_review)
def get_compliance_review(asked: contract.GetComplianceReview, context: RequestContext) -> contract.ComplianceReview:
    """One review."""
    return _to_resource(context.one(_ONE, id=asked.id))


@handles(contract.decide_compliance_review)
def decide_compliance_review(
    asked: contract.DecideComplianceReview, context: RequestContext
) -> contract.ComplianceReview:
    """The decided review. No campaign is resumed; the same decision a second time changes nothing.

    Raises:
        Refusal: review_already_decided, the other way.
    """
    row = context.one(_ONE.with_for_update(), id=asked.id)
    wanted = _BECOMES[asked.decision]
    if row.status == wanted:
        return _to_resource(row)
    if row.status not in _UNDECIDED:
        message = f"the review was {row.status} by {row.decided_by} at {moment(row.decided_at):%Y-%m-%d %H:%M} UTC"
        details = {"current_status": row.status, "decided_by": row.decided_by}
        raise Refusal(REVIEW_ALREADY_DECIDED, message, details=details)
    rows.change(
        context.connection,
        row.id,
        status=wanted,
        decided_at=context.now_ms,
        decided_by=context.principal.actor,
        decision_note=asked.note or None,
        facts=json_text(_facts(row, context)),
    )
    return _to_resource(context.one(_ONE, id=asked.id))


def _facts(row: Row[Any], context: RequestContext) -> dict[str, Any]:
    """The facts of a review that is decided now, with how far its campaign is: answered calls, or its clock."""
    facts: dict[str, Any] = json.loads(row.facts)
    if row.subject_type != "deployment":
        return facts
    campaign = context.connection.execute(_SO_FAR, {"id": row.subject_id}).one_or_none()
    if campaign is None:
        return facts
    if row.category == "abandon_rate":
        return {**facts, rows.CLOCK_WHEN_DECIDED: campaign.clock_ms}
    return {**facts, rows.ANSWERED_WHEN_DECIDED: campaign.answered}


def _to_resource(row: Row[Any]) -> contract.ComplianceReview:
    subject = contract.ReviewSubject(type=row.subject_type, id=row.subject_id)
    return resource(contract.ComplianceReview, row, subject=subject)
