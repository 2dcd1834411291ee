"""One person's data: everything that is kept about a telephone number, to be given out or deleted."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.audiences import AudienceRow, RowError
from callwright.contract.calls.calls import Call, TranscriptTurn
from callwright.contract.declaration.field_types import E164, Timestamp
from callwright.contract.declaration.marks import PERSONAL, ContactNumber, OwnText
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import operation
from callwright.contract.deployments.contacts import Contact
from callwright.contract.inbound_routing import RoutingRequest
from callwright.contract.problems import CALL_UNDER_WAY, INVALID_CURSOR

MOST_PER_PAGE = 1_000
"""Entries on one page of an export."""
DELETED_NUMBER = "deleted"
"""Stands in a call or a contact in place of the number of a person whose data was deleted."""
PersonNumber = Annotated[E164, PERSONAL, Field(description="The person's number, in E.164.")]
PersonId = Annotated[
    str, Field(description="The person in the audit log: a keyed hash of the number, from which nobody can read it.")
]


class PersonRefusedRow(RowError):
    """A row of this person that an import refused."""

    import_id: str
    audience_id: str


class PersonCall(Resource):
    """A call to or from this person, with what was said on it."""

    call: Call
    turns: list[TranscriptTurn]
    routing: Annotated[
        RoutingRequest | None, Field(description="What the number's routing webhook was asked and answered about it.")
    ] = None


class ListedNumber(Resource):
    """An entry of the do-not-call list."""

    number: ContactNumber
    simulated: Annotated[bool, Field(description="True for the list of the simulated network.")]
    reason: OwnText
    created_at: Timestamp
    expires_at: Annotated[Timestamp | None, Field(description="Null for an entry that stays.")] = None
    source_call_id: Annotated[str | None, Field(description="The call on which the person asked for it.")] = None


class PersonCounts(Resource):
    """How much is kept about a person."""

    audience_rows: int
    contacts: Annotated[int, Field(description="Contacts in campaigns.")]
    refused_rows: Annotated[int, Field(description="Rows that imports refused and that bear an own id of the person.")]
    calls: int


class PersonExport(Resource):
    """What is kept about a person.

    A page has up to `per_page` entries: first the audience rows, then the contacts, the refused rows and the calls.
    """

    id: PersonId
    numbers: Annotated[list[ContactNumber], Field(description="The notations of the number that were looked for.")]
    counts: PersonCounts
    do_not_call: list[ListedNumber]
    audience_rows: list[AudienceRow]
    contacts: list[Contact]
    refused_rows: list[PersonRefusedRow]
    calls: list[PersonCall]
    next_cursor: Annotated[OwnText | None, Field(description="Send as cursor to get the next page.")] = None


class PersonDeletion(Resource):
    """What this request deleted of a person's data."""

    id: PersonId
    complete: Annotated[
        bool, Field(description="False: more is left. Send the request again, with a new Idempotency-Key.")
    ]
    deleted: Annotated[PersonCounts, Field(description="Of calls: those that have lost what was about the person.")]
    waiting_removed: Annotated[int, Field(description="Contacts that waited for a call, and are not called any more.")]
    do_not_call: Annotated[
        Literal["kept", "absent"],
        Field(description="kept: the entry of the do-not-call list stays, so that nobody calls the number again."),
    ]
    open_imports: Annotated[
        list[OwnText],
        Field(description="Imports that have not ended, whose files may hold the person: delete again after them."),
    ]
    advice: Annotated[OwnText | None, Field(description="What to do next; null for nothing.")] = None


class ExportPerson(Input):
    """Whose data to export. The number is in the body, so that it is in no address and no log."""

    number: PersonNumber
    cursor: Annotated[
        OwnText | None, Field(min_length=1, max_length=2000, description="next_cursor of the previous answer.")
    ] = None
    per_page: Annotated[int, Field(ge=1, le=MOST_PER_PAGE, description="Entries per page, 1 to 1,000.")] = 200


class DeletePerson(Input):
    """Whose data to delete. It cannot be undone.

    A request deletes up to 500 rows, contacts, refused rows and calls each; `complete` says whether more is left. A
    request that was broken off is completed by the next one.
    """

    number: PersonNumber
    confirm: Annotated[bool, Field(description="Has to be true: it cannot be undone.")]


export_person = operation(
    "export_person",
    "POST /people/export",
    takes=ExportPerson,
    gives=PersonExport,
    problems=(INVALID_CURSOR,),
    summary="Export everything that is kept about a person, by their number.",
    audited_as="person.exported",
    keeps_answer=False,
)
delete_person = operation(
    "delete_person",
    "POST /people/delete",
    takes=DeletePerson,
    gives=PersonDeletion,
    problems=(CALL_UNDER_WAY,),
    summary="Delete what is kept about a person, by their number; the do-not-call list keeps its entry.",
    audited_as="person.deleted",
)
