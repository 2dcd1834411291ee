"""Contacts: the people inside a deployment, how far it is with each, and the counters of all."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.calls.calls import Disposition, Outcome, PersonName
from callwright.contract.declaration.field_types import DeploymentId, Money, Timestamp
from callwright.contract.declaration.filters import Choices, Filter, OneOrMore, PersonalFilter
from callwright.contract.declaration.marks import Cell, ContactNumber, OwnText
from callwright.contract.declaration.model import Resource
from callwright.contract.declaration.pagination import PageQuery

ContactStatus = Literal[
    "pending",
    "in_flight",
    "retry_waiting",
    "held",
    "completed",
    "exhausted",
    "suppressed",
    "skipped",
    "expired",
    "cancelled",
]


class Contact(Resource):
    """A person inside a deployment."""

    id: str
    deployment_id: str
    external_id: Annotated[Cell | None, Field(description="The list's own id of the person, where it has one.")] = None
    name: Annotated[
        Cell | None, Field(description="What the list calls the person; null where it has no column of names.")
    ] = None
    phone_number: ContactNumber
    status: ContactStatus
    status_reason: Annotated[
        OwnText | None,
        Field(
            description=(
                "Why it is suppressed: do_not_call (on the list), no_consent, not_dialable, "
                "calling_hours (which with the rules of the region leave no moment), predial_declined "
                "(predial_check_url said no), or person_deleted. Why it has expired: campaign_ended, end_at had passed."
                " callback_not_possible: it wants a call (callback_at), and no attempt is left."
            )
        ),
    ] = None
    decided_by: Annotated[
        OwnText | None,
        Field(description="The rule that decided last: allowed, or what deferred or forbade the call, as US-FL.hours."),
    ] = None
    decided_at: Timestamp | None = None
    attempts: int
    last_outcome: OwnText | None = None
    last_disposition: OwnText | None = None
    last_call_id: str | None = None
    next_attempt_at: Annotated[
        Timestamp | None,
        Field(
            description="When it is called at the earliest, by the calling hours as they are now; null: not, or open."
        ),
    ] = None
    callback_at: Annotated[
        Timestamp | None,
        Field(description="When it asked, on its last call, to be called; null: it did not, or on an earlier call."),
    ] = None
    values: dict[str, Cell]


class Stats(Resource):
    """Where a deployment's contacts and calls stand."""

    contacts: int
    pending: Annotated[int, Field(description="Not called yet.")]
    in_flight: Annotated[int, Field(description="Being called now.")]
    retry_waiting: Annotated[int, Field(description="To be called again later.")]
    held: Annotated[
        int,
        Field(description="Nobody knows whether the telephone rang. resolve_call says so; until then nobody calls."),
    ] = 0
    completed: Annotated[int, Field(description="Reached: answered, transferred, or a message was left.")]
    exhausted: Annotated[
        int,
        Field(
            description="Not reached, not called again: all attempts are made, or the last outcome is not in retry_on."
        ),
    ]
    suppressed: Annotated[
        int, Field(description="A rule forbids a call, or a further one: also who was called and asked for no more.")
    ]
    expired: Annotated[int, Field(description="Not called any more because end_at had passed.")]
    cancelled: Annotated[int, Field(description="Not called any more because of a cancellation.")]
    attempts: Annotated[int, Field(description="Calls made.")]
    answered: Annotated[int, Field(description="Calls a person answered.")]
    voicemail: Annotated[int, Field(description="Calls a machine answered.")]
    outcomes: Annotated[dict[str, int], Field(description="Calls by outcome.")]
    dispositions: Annotated[dict[str, int], Field(description="Calls by disposition.")]
    last_outcomes: Annotated[
        dict[str, int], Field(description="Contacts by the outcome of the last of their calls that has ended.")
    ]
    spend: Money


class ListContacts(PageQuery):
    """People of a deployment and how far it is with them."""

    id: DeploymentId
    status: Annotated[Choices[ContactStatus], Field(description="Only these states, for example retry_waiting.")] = None
    last_outcome: Annotated[OneOrMore[Outcome], Field(description="Only these outcomes of the last call.")] = None
    last_disposition: Annotated[
        OneOrMore[Disposition], Field(description="Only these dispositions of the last call.")
    ] = None
    name: Annotated[PersonName, Filter("name_words", "words")] = None
    phone_number: Annotated[
        PersonalFilter | None, Field(description="Only this number, in E.164."), Filter("phone")
    ] = None
