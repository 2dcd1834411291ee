"""Evidence: why each call was allowed, and what forbade calls to a contact before."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.calls.calls import CallUuid, Resolution
from callwright.contract.declaration.field_types import DeploymentId, Timestamp
from callwright.contract.declaration.filters import MadeBetween
from callwright.contract.declaration.marks import Cell, ColumnText, ContactNumber, OwnScript, OwnText
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import listing, operation
from callwright.contract.declaration.pagination import MOST_COUNTED, PageQuery


class EvidenceRule(Resource):
    """A rule of a region that was asked."""

    id: Annotated[OwnText, Field(description="Its name in the rules file.", examples=["US-FL.hours"])]
    source: OwnText
    url: OwnScript | None = None
    verified: Annotated[bool, Field(description="False: its text was not read, so the strict default held as well.")]


class ContactDecision(Resource):
    """How the gate decided about the contact when it did not allow a call: one entry whenever another rule decided."""

    decided_at: Annotated[Timestamp, Field(description="By the clock of the campaign.")]
    decision: Literal["deferred", "never"]
    rule: OwnText
    until: Annotated[Timestamp | None, Field(description="Until when it was deferred, by the same clock.")] = None
    rules_version: OwnText


class CallEvidence(Resource):
    """Why a call was allowed, as it was known when it was claimed. A call of an earlier release has nothing of it."""

    call_id: str
    deployment_id: str | None = None
    contact_id: str | None = None
    to: ContactNumber
    created_at: Annotated[Timestamp, Field(description="When it was dialled, by the clock of the campaign.")]
    simulated: bool
    rules_version: Annotated[OwnText | None, Field(description="The version of the rules of regions.")] = None
    regions: Annotated[list[OwnText], Field(description="Where the person may be, for example US and US-FL.")] = []
    time_zones: Annotated[list[OwnText], Field(description="The time zones that all had to allow it.")] = []
    local_time: Annotated[
        OwnText | None,
        Field(
            description="What clocks in the first of them showed at created_at.",
            examples=["Sat 2026-11-28 17:01:02 -0500"],
        ),
    ] = None
    rules: Annotated[list[EvidenceRule], Field(description="Hours, caps and pauses that allowed it.")] = []
    consent_rules: Annotated[list[OwnText], Field(description="Rules that need the person's consent.")] = []
    consent_basis: Annotated[
        Literal["column", "attested", "not_needed"] | None,
        Field(
            description=(
                "column: the list said yes for the person; attested: the campaign stated that everybody agreed; "
                "not_needed: it did neither. Null for a call of an earlier release."
            )
        ),
    ] = None
    consent_column: Annotated[ColumnText | None, Field(description="The column of the list that said yes.")] = None
    consent_answer: Annotated[
        Cell | None, Field(description="What the person's cell in that column said, up to 100 characters.")
    ] = None
    consent_date: Annotated[
        Cell | None,
        Field(
            description=(
                "When the person agreed, as the list says it, up to 100 characters; null where it has no column named "
                "for that date, such as consent_date or opted in at."
            )
        ),
    ] = None
    consent_reference: Annotated[
        OwnText | None, Field(description="Where the campaign said that the consents are kept.")
    ] = None
    calls_in_24_hours: Annotated[
        int | None,
        Field(description="Calls to the number in the 24 hours before created_at, by any campaign, each by its clock."),
    ] = None
    calls_in_7_days: Annotated[int | None, Field(description="In the 7 days before it, in the same way.")] = None
    do_not_call_checked_at: Annotated[
        Timestamp | None,
        Field(
            description=(
                "When the do-not-call list was read and the call allowed, by the clock of the service. That of a "
                "simulated campaign may be days ahead of it."
            )
        ),
    ] = None
    resolved: Annotated[
        Resolution | None,
        Field(
            description=(
                "Of a call with the cause unconfirmed: what resolve_call has said. After placed false the contact is "
                "called again although nobody knew whether the telephone rang."
            )
        ),
    ] = None


class CallEvidenceWithHistory(CallEvidence):
    """Why a call was allowed, and what forbade calls to its contact before."""

    history: Annotated[list[ContactDecision], Field(description="The newest 100, the newest first.")]


class GetCallEvidence(Input):
    """The call."""

    call_uuid: CallUuid


class ListEvidence(MadeBetween, PageQuery):
    """The calls of a deployment, of a day for example."""

    id: DeploymentId


get_call_evidence = operation(
    "get_call_evidence",
    "GET /calls/{call_uuid}/evidence",
    takes=GetCallEvidence,
    gives=CallEvidenceWithHistory,
    summary="Get why a call was allowed: the rules, their version, zone, local time and what forbade it before.",
)
list_evidence = listing(
    "list_evidence",
    "/deployments/{id}/evidence",
    takes=ListEvidence,
    gives=CallEvidence,
    counts_to=MOST_COUNTED,
    summary="List why each call of a deployment was allowed.",
)
