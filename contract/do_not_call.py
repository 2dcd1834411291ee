"""The do-not-call list: numbers that the organization does not call, in no campaign, from the next call on."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.checks.names import Text
from callwright.contract.declaration.field_types import MAX_ID, CountryCode, PlainText, Timestamp
from callwright.contract.declaration.filters import Choices, Filter, FilterText, MadeBetween, PersonalFilter
from callwright.contract.declaration.marks import (
    DERIVED,
    OWN,
    PERSONAL,
    ColumnText,
    ContactNumber,
    OwnText,
    QuotedText,
)
from callwright.contract.declaration.model import Input, Part, Resource
from callwright.contract.declaration.operation import listing, media, operation, removal
from callwright.contract.declaration.pagination import MOST_COUNTED, PageQuery
from callwright.contract.declaration.rows import ColumnName, CsvText

Reason = Literal["opted_out", "requested", "regulator", "litigator", "deceased", "wrong_number", "other"]
MAX_ENTRIES = 1_000
"""Entries of one request; a file has more."""
MOST_ERRORS = 100
"""The refused rows that an answer shows."""

EntryId = Annotated[
    str,
    Field(
        max_length=MAX_ID,
        description="Entry id (dnc_…), from list_do_not_call.",
        examples=["dnc_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H"],
    ),
    PlainText,
]
ReasonField = Annotated[
    Reason,
    Field(
        description=(
            "opted_out: asked on a call; requested: asked otherwise; regulator: national list; litigator, deceased, "
            "wrong_number or other."
        )
    ),
]
Simulated = Annotated[
    bool, Field(description="true: on the list of the simulated network alone, which real calls do not know.")
]
Note = Annotated[Text, OWN, Field(description="Free text for people. No telephone number.")]
ReadIn = Annotated[
    CountryCode,
    Field(description="Country in which numbers without a + are read, for example US. Without it only E.164 is valid."),
]


class DoNotCallEntry(Resource):
    """A number that is not called."""

    id: str
    number: Annotated[ContactNumber, Field(description="E.164.")]
    reason: ReasonField
    note: Annotated[QuotedText, PERSONAL]
    source_call_id: Annotated[str | None, Field(description="The call on which the person asked for it.")] = None
    simulated: Simulated
    created_at: Annotated[Timestamp, DERIVED]
    expires_at: Annotated[Timestamp | None, Field(description="When it ends; null: never.")] = None
    created_by_key_id: Annotated[str | None, Field(description="The key that added it; null for one of a call.")] = None


class ListDoNotCall(MadeBetween, PageQuery):
    """Entries of the organization, those that have ended too."""

    number: Annotated[PersonalFilter | None, Field(description="Only this number, in E.164."), Filter()] = None
    reason: Annotated[Choices[Reason], Field(description="Only these reasons.")] = None
    source_call_id: Annotated[
        FilterText | None,
        Field(examples=["cal_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H"], description="Only what this call has brought about."),
        Filter(),
    ] = None
    simulated: Annotated[
        bool | None, Field(description="true: only the simulated network's list; false: only the real one."), Filter()
    ] = None


class GetDoNotCall(Input):
    """One entry."""

    id: EntryId


class NewEntry(Part):
    """A number to add."""

    number: Annotated[
        ContactNumber,
        Field(min_length=1, max_length=60, description="Phone number, best with a +.", examples=["+12025550100"]),
        PlainText,
    ]
    reason: ReasonField = "requested"
    note: Note = ""
    expires_at: Annotated[Timestamp | None, Field(description="When it ends; left out: never.")] = None


class AddDoNotCall(Input):
    """Numbers to add. Each holds from the next call on, in every campaign of the organization.

    An entry that is there stays, unless the new one holds longer: then it takes its place. So a permanent entry
    is never made temporary.
    """

    entries: Annotated[
        list[NewEntry],
        PERSONAL,
        Field(min_length=1, max_length=MAX_ENTRIES, description="1 to 1,000 numbers; more with import_do_not_call."),
    ]
    default_country: ReadIn | None = None
    simulated: Simulated = False


class RefusedNumber(Resource):
    """A number that was not added, and why."""

    row_number: Annotated[int, Field(description="Its place in what was sent, from 1.")]
    line: Annotated[int | None, Field(description="Of a file: the line in which the row begins, from 1.")] = None
    field: Annotated[OwnText, Field(description="What is wrong: number, expires_at, simulated or row.")]
    code: Annotated[
        OwnText,
        Field(
            description=(
                "missing_phone, invalid_phone, spreadsheet_damage, several_numbers, ambiguous_country, not_dialable, "
                "already_over, other_list or column_count_mismatch."
            )
        ),
    ]
    message: Annotated[QuotedText, PERSONAL]
    value_redacted: Annotated[
        QuotedText | None, Field(description="The refused value, a number with its middle masked."), PERSONAL
    ] = None


class ListedNumber(Resource):
    """A number that is on the list now."""

    id: str
    number: ContactNumber
    result: Annotated[
        Literal["added", "extended", "already_there"],
        Field(
            description=(
                "extended: an entry that was to end holds longer now; already_there: it stays as it was, because it "
                "holds as long or longer."
            )
        ),
    ]
    expires_at: Annotated[Timestamp | None, Field(description="When it ends; null: never.")] = None


class Counts(Resource):
    """What became of the numbers that were sent."""

    received: Annotated[int, Field(description="Numbers that were sent: a cell may hold several.")]
    added: int
    extended: Annotated[int, Field(description="Entries that were to end and hold longer now.")]
    already_there: Annotated[
        int, Field(description="Numbers that were on the list for as long or longer, or were sent before; unchanged.")
    ]
    kept_permanent: Annotated[
        int, Field(description="Those of already_there that were sent with an end: their entries stay permanent.")
    ]
    refused: int


class DoNotCallAdded(Counts):
    """The numbers that are on the list now, and those that were refused."""

    entries: list[ListedNumber]
    errors: Annotated[list[RefusedNumber], Field(description="Every refused number.")]


class RemoveDoNotCall(Input):
    """The entry to remove. Its person may be called again, and plans made before are stale."""

    id: EntryId
    reason: Annotated[
        Text | None,
        OWN,
        Field(description="Why, for the audit log. Required for opted_out: its person asked not to be called."),
    ] = None


class ImportDoNotCall(Input):
    """A CSV file to import: its text, up to 1 MB, or a part of a larger one with the header row. All good rows are on
    the list when the answer comes.

    The first row names the columns. Those of numbers are found by names and contents; the columns `reason`, `note`,
    `expires_at` and `simulated` are read where there are any, and others are not. The number wins: an unknown reason
    is taken as `other` and kept in the note, and an entry whose end cannot be read is permanent. An export can be
    imported.
    """

    csv: CsvText
    number_column: Annotated[
        ColumnName | None,
        Field(description="The only column with numbers. Left out: all that are, by names and contents."),
    ] = None
    default_country: ReadIn | None = None
    reason: Annotated[ReasonField, Field(description="The reason of rows that have none.")] = "requested"
    simulated: Simulated = False


class DoNotCallImported(Counts):
    """What became of the rows of a file."""

    read_as: Annotated[OwnText, Field(description="How the file was read, for example `CSV, UTF-8, semicolons`.")]
    number_columns: Annotated[list[ColumnText], Field(description="The columns whose numbers were read.")]
    unread_number_columns: Annotated[
        list[ColumnText],
        Field(description="Columns that hold numbers too, and were not read because of number_column."),
    ]
    notices: Annotated[
        list[OwnText],
        Field(description="What is on the list otherwise than the file has it, with the first lines of each kind."),
    ]
    errors: Annotated[list[RefusedNumber], Field(description="The first 100 refused rows.")]


class ExportDoNotCall(Input):
    """The whole list, newest first, entries that have ended too."""

    simulated: Annotated[
        bool | None, Field(description="true: only the simulated network's list; false: only the real one.")
    ] = None


list_do_not_call = listing(
    "list_do_not_call",
    "/do_not_call",
    takes=ListDoNotCall,
    gives=DoNotCallEntry,
    counts_to=MOST_COUNTED,
    summary="List the numbers that are not called.",
)
get_do_not_call = operation(
    "get_do_not_call",
    "GET /do_not_call/{id}",
    takes=GetDoNotCall,
    gives=DoNotCallEntry,
    summary="Get an entry of the do-not-call list.",
)
add_do_not_call = operation(
    "add_do_not_call",
    "POST /do_not_call",
    takes=AddDoNotCall,
    gives=DoNotCallAdded,
    status=201,
    summary="Add numbers to the do-not-call list.",
)
remove_do_not_call = removal(
    "remove_do_not_call",
    "/do_not_call/{id}",
    takes=RemoveDoNotCall,
    summary="Remove a number from the do-not-call list.",
)
import_do_not_call = operation(
    "import_do_not_call",
    "POST /do_not_call/imports",
    takes=ImportDoNotCall,
    gives=DoNotCallImported,
    status=201,
    summary="Import a CSV file into the do-not-call list.",
)
export_do_not_call = media(
    "export_do_not_call",
    "/do_not_call/export",
    takes=ExportDoNotCall,
    media_types=("text/csv",),
    summary="Export the do-not-call list as CSV.",
)
