"""Compliance reviews: what a person has to look at and decide, by when, and what waits until they have."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from callwright.contract.declaration.field_types import MAX_ID, PlainText, Timestamp
from callwright.contract.declaration.filters import Choices, Filter, FilterText, MadeBetween
from callwright.contract.declaration.marks import OWN, OwnText
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import listing, operation
from callwright.contract.declaration.pagination import MOST_COUNTED, PageQuery
from callwright.contract.problems import REVIEW_ALREADY_DECIDED

ReviewCategory = Literal[
    "consent_missing", "opt_out_rate", "short_calls", "abandon_rate", "rules_changed", "unknown_country"
]
ReviewSeverity = Literal["low", "medium", "high"]
ReviewStatus = Literal["open", "approved", "rejected", "expired"]
SubjectType = Literal["deployment", "phone_number", "organization"]
Decision = Literal["approve", "reject"]
ReviewId = Annotated[
    str,
    Field(
        max_length=MAX_ID,
        description="Review id (rev_…), from list_compliance_reviews.",
        examples=["rev_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H"],
    ),
    PlainText,
]


class ReviewSubject(Resource):
    """What a review is about."""

    type: SubjectType
    id: str


class ComplianceReview(Resource):
    """Something that a person has to decide. It names no person who is called, and holds nothing that was said."""

    id: str
    category: ReviewCategory
    severity: ReviewSeverity
    status: Annotated[
        ReviewStatus,
        Field(description="expired: nobody decided in time; it can still be decided, and blocks as before."),
    ]
    subject: ReviewSubject
    message: Annotated[OwnText, Field(description="What was found, and why somebody has to look.")]
    facts: Annotated[dict[str, JsonValue], OWN, Field(description="The figures behind it.")]
    blocking: Annotated[
        bool, Field(description="True: a campaign that it concerns neither starts nor resumes until it is approved.")
    ]
    simulated: Annotated[bool, Field(description="True when it is about the simulated network.")]
    created_at: Timestamp
    due_at: Timestamp
    decided_at: Timestamp | None = None
    decided_by: Annotated[
        OwnText | None, Field(description="The key that decided; the audit log names the person behind it.")
    ] = None
    decision_note: OwnText | None = None


class ListComplianceReviews(MadeBetween, PageQuery):
    """Reviews of the organization."""

    status: Annotated[Choices[ReviewStatus], Field(description="Only these states, for example open,expired.")] = None
    category: Annotated[Choices[ReviewCategory], Field(description="Only these categories.")] = None
    subject_id: Annotated[
        FilterText | None,
        Field(description="Only those about this deployment, phone number or organization."),
        Filter(),
    ] = None


class GetComplianceReview(Input):
    """One review."""

    id: ReviewId


class DecideComplianceReview(Input):
    """A decision. An approval lets a campaign be resumed and does not resume it; a rejection is for good."""

    id: ReviewId
    decision: Annotated[
        Decision,
        Field(
            description=(
                "approve: the campaign may be started or resumed. reject: it never is; what may change is done in a "
                "clone."
            )
        ),
    ]
    note: Annotated[OwnText, Field(max_length=1_000, description="Why; kept with the review."), PlainText] = ""


list_compliance_reviews = listing(
    "list_compliance_reviews",
    "/compliance_reviews",
    takes=ListComplianceReviews,
    gives=ComplianceReview,
    counts_to=MOST_COUNTED,
    summary="List compliance reviews.",
)
get_compliance_review = operation(
    "get_compliance_review",
    "GET /compliance_reviews/{id}",
    takes=GetComplianceReview,
    gives=ComplianceReview,
    summary="Get a compliance review.",
)
decide_compliance_review = operation(
    "decide_compliance_review",
    "POST /compliance_reviews/{id}/decide",
    takes=DecideComplianceReview,
    gives=ComplianceReview,
    problems=(REVIEW_ALREADY_DECIDED,),
    summary="Approve or reject what a compliance review is about; resumes nothing.",
)
