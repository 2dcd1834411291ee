"""Tools for compliance reviews: what a person has to decide before a campaign goes on."""

from callwright.contract import compliance_reviews as contract
from callwright.contract.compliance_reviews import ComplianceReview
from callwright.tools.confirmation import review_words
from callwright.tools.runtime.tool import CHANGES, READS, Tool, projection_of
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import line, lines, moment

ReviewState = projection_of(ComplianceReview, "ReviewState", "id", "category", "status", "subject", "decided_by")
"""A review after its decision."""


def _entry(review: ComplianceReview, _: ToolContext) -> str:
    return line(
        review.id,
        review.category,
        review.severity,
        review.status,
        f"{review.subject.type} {review.subject.id}",
        f"due {moment(review.due_at)}" if review.decided_at is None else f"decided {moment(review.decided_at)}",
        review.message,
    )


def _whole(review: ComplianceReview, context: ToolContext) -> str:
    facts = ", ".join(f"{name} {value}" for name, value in review.facts.items())
    return lines(
        _entry(review, context),
        f"facts: {facts}" if facts else None,
        "Nothing that it concerns starts or resumes before its approval."
        if review.blocking and review.status != "approved"
        else None,
        f"decided by {review.decided_by}" if review.decided_by else None,
        f"note: {review.decision_note}" if review.decision_note else None,
    )


def _decided(review: ComplianceReview, context: ToolContext) -> str:
    goes_on = "Nothing was resumed. resume_deployment goes on, once the person agrees."
    stays = "It never goes on. clone_deployment makes a new draft of a campaign. cancel_deployment ends it."
    return lines(_whole(review, context), context.hint(goes_on if review.status == "approved" else stays))


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.list_compliance_reviews,
        toolset="compliance",
        title="List compliance reviews",
        description=(
            "What a person has to decide, newest first, and by when: missing consent, many opt-outs, calls that end at "
            "once, changed rules. Use it when a campaign paused for compliance. Free."
        ),
        hints=READS,
        reply=_entry,
        empty="No review fits.",
        default_fields=("id", "category", "severity", "status", "subject", "message", "due_at"),
        hidden=frozenset({"sort"}),
        example="facts",
        argument_descriptions={"subject_id": "About this campaign or number."},
    ),
    Tool(
        operation=contract.get_compliance_review,
        toolset="compliance",
        title="Get a compliance review",
        description=(
            "One compliance review with its figures, and who decided it and why. To find reviews use "
            "list_compliance_reviews. Free."
        ),
        hints=READS,
        reply=_whole,
    ),
    Tool(
        operation=contract.decide_compliance_review,
        toolset="compliance",
        title="Decide a compliance review",
        description=(
            "Approves or rejects what a review found, for good. Only as the person decided, never by your own "
            "judgement: read it to them with get_compliance_review first. An approval lets its campaign be resumed and "
            "resumes nothing. A rejected campaign never goes on. Free."
        ),
        hints=CHANGES,
        reply=_decided,
        confirmation=review_words.decide,
        output_model=ReviewState,
        argument_descriptions={"decision": "The person's.", "note": "Their reason, kept with the review."},
    ),
)
