"""Audiences: the people a campaign calls. Rows come as JSON or from files; further columns are template variables."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from callwright.contract.checks.names import Text
from callwright.contract.declaration.changes import TO_NO_ENTRIES, TO_NO_TEXT, TO_NOTHING, Changes
from callwright.contract.declaration.field_types import (
    AudienceId,
    CountryCode,
    ImportId,
    Metadata,
    Stored,
    Timestamp,
    UniqueName,
)
from callwright.contract.declaration.filters import Choices, Filter, FilterText, MadeBetween, OneOrMore, PersonalFilter
from callwright.contract.declaration.marks import (
    COUNTED,
    DERIVED,
    OWN,
    PERSONAL,
    Cell,
    ColumnText,
    ContactNumber,
    OwnText,
    QuotedText,
)
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import listing, operation, removal
from callwright.contract.declaration.pagination import MOST_COUNTED, PageQuery
from callwright.contract.declaration.revisions import Expecting, Revision
from callwright.contract.declaration.rows import ColumnName, CsvText, FileBytes, FileUrl, Row, RowList
from callwright.contract.declaration.uploads import UploadEnd, UploadUrl
from callwright.contract.problems import AUDIENCE_FULL, AUDIENCE_IN_USE, DUPLICATE_NAME, SPENDING_CAP_REACHED
from callwright.contract.row_errors import RowError as RowError

Dedupe = Literal["phone", "external_id", "none"]
AudienceStatus = Literal["empty", "importing", "ready", "failed"]
Description = Annotated[Text, OWN, Field(description="Free text for people.")]
PhoneColumn = Annotated[
    ColumnName,
    Field(description="The column with the phone number. Left out: found by the names and contents of the columns."),
]
DefaultCountry = Annotated[
    CountryCode,
    Field(description="Country in which numbers without a + are read, for example US. Without it only E.164 is valid."),
]
PriorityColumn = Annotated[
    ColumnName, Field(description="Column with 0 to 9: whom a campaign calls first, the highest; empty is 0.")
]
NotBeforeColumn = Annotated[
    ColumnName,
    Field(description="Column with an ISO 8601 date or time before which nobody calls; without an offset, local."),
]
LanguageColumn = Annotated[
    ColumnName, Field(description="Column with the BCP-47 tag of the language that the agent speaks with the person.")
]

MAX_ROWS = 5_000_000
"""Rows of an audience."""


class Column(Resource):
    """A column found in the rows."""

    name: ColumnText
    type: Literal["string", "number", "boolean", "date"]
    sample: Annotated[ColumnText | None, Field(description="A value of it; none for the phone column."), PERSONAL] = (
        None
    )
    fill_rate: Annotated[float, Field(description="Share of rows that have a value, 0 to 1.")]


class Audience(Stored):
    """A list of people to call."""

    name: OwnText
    description: OwnText
    status: AudienceStatus
    source: Literal["json", "csv", "xlsx"] | None = None
    phone_column: Annotated[
        ColumnText | None, Field(description="Null until it is given or found in the first rows that are taken.")
    ] = None
    default_country: OwnText | None = None
    timezone_column: Annotated[
        ColumnText | None, Field(description="Null until it is given or found by its name, such as timezone or tz.")
    ] = None
    external_id_column: ColumnText | None = None
    priority_column: ColumnText | None = None
    not_before_column: ColumnText | None = None
    language_column: ColumnText | None = None
    dedupe: Dedupe
    columns: Annotated[list[Column], DERIVED]
    row_count: Annotated[int, Field(description="Rows received: valid, invalid and duplicate ones."), COUNTED]
    valid_count: Annotated[int, Field(description="Rows that can be called."), COUNTED]
    invalid_count: Annotated[int, COUNTED]
    duplicate_count: Annotated[int, COUNTED]
    last_imported_at: Annotated[Timestamp | None, DERIVED] = None
    last_import_id: Annotated[
        str | None, Field(description="The newest import of a file; null without one."), DERIVED
    ] = None
    open_imports: Annotated[
        list[OwnText],
        Field(description="Imports of files that have not ended. Only where one audience is read, else empty."),
        DERIVED,
    ] = []
    revision: Annotated[
        Revision | None,
        Field(
            description=(
                "Another one once another campaign calls its people, or one of those that do has changed, whatever "
                "its rows. Only where one audience is read, else null. Opaque."
            )
        ),
        DERIVED,
    ] = None
    metadata: dict[str, OwnText]


class NewAudience(Audience):
    """A new audience, with the rows that were refused."""

    errors: Annotated[list[RowError], Field(description="The first 100 refused rows.")]


class RowsAdded(Resource):
    """The result of adding rows."""

    audience_id: str
    received: int
    added: int
    invalid: int
    duplicates: int
    errors: Annotated[list[RowError], Field(description="The first 100 refused rows.")]


class AudienceRow(Resource):
    """One person in an audience."""

    id: str
    audience_id: str
    phone_number: Annotated[ContactNumber, Field(description="E.164.")]
    country: OwnText | None = None
    timezone: Annotated[OwnText | None, Field(description="IANA zone from the time zone column, if any.")] = None
    external_id: Cell | None = None
    priority: Annotated[int | None, Field(description="1 to 9, the highest first; null for 0.")] = None
    not_before: Annotated[Timestamp | None, Field(description="No campaign calls the person before it.")] = None
    language: Annotated[OwnText | None, Field(description="In which agents speak with the person.")] = None
    name: Annotated[
        Cell | None, Field(description="What the list calls the person; null where it has no column of names.")
    ] = None
    values: Annotated[dict[str, Cell], Field(description="The template variables, by column.")]
    declined: Annotated[
        dict[str, Cell],
        Field(description="What other rows of the person say no to, by column; as consent it wins over `values`."),
    ] = {}
    created_at: Timestamp


class AudienceImport(Resource):
    """An import of a file."""

    id: str
    audience_id: str
    status: Annotated[
        Literal["uploading", "pending", "importing", "completed", "completed_with_errors", "failed"],
        Field(description="failed: nothing of the file was taken, or what is in `added`; status_reason says why."),
    ]
    status_reason: OwnText | None = None
    read_as: Annotated[
        QuotedText | None, Field(description="How the file was read: `CSV, UTF-8, semicolons`, or `XLSX, sheet May`.")
    ] = None
    total_rows: int | None = None
    processed: int
    percent: int
    rows_per_second: Annotated[
        int | None, Field(description="How fast its rows are taken, since the first ones; null before that."), DERIVED
    ] = None
    seconds_left: Annotated[
        int | None, Field(description="When it ends at that speed; null when it has ended or nobody knows."), DERIVED
    ] = None
    added: int
    invalid: int
    duplicates: int
    created_at: Timestamp
    completed_at: Timestamp | None = None
    expires_at: UploadEnd | None = None
    created_by_key_id: str | None = None


class BegunImport(AudienceImport):
    """A new import, and where its file goes if it is still to be uploaded."""

    upload_url: UploadUrl | None = None


class ListAudiences(MadeBetween, PageQuery):
    """Audiences of the organization."""

    name: Annotated[FilterText | None, Field(description="Only the audience with exactly this name."), Filter()] = None
    status: Annotated[Choices[AudienceStatus], Field(description="Only these states, for example ready.")] = None


class GetAudience(Input):
    """One audience."""

    id: AudienceId


class CreateAudience(Input):
    """A new audience, with up to 1,000 rows at once. Invalid rows are counted and reported, never lost silently."""

    name: UniqueName
    description: Description = ""
    phone_column: PhoneColumn | None = None
    default_country: DefaultCountry | None = None
    timezone_column: Annotated[
        ColumnName | None,
        Field(description="The column with an IANA time zone; left out: one named timezone, time zone or tz."),
    ] = None
    external_id_column: Annotated[
        ColumnName | None, Field(description="The column with your own id of a person, if there is one.")
    ] = None
    priority_column: PriorityColumn | None = None
    not_before_column: NotBeforeColumn | None = None
    language_column: LanguageColumn | None = None
    dedupe: Annotated[Dedupe, Field(description="Which rows count as the same person; the first one is kept.")] = (
        "phone"
    )
    rows: Annotated[
        list[Row],
        Field(max_length=1_000, description="Up to 1,000 rows; more with add_audience_rows or import_audience."),
    ] = []
    metadata: Metadata = {}


class UpdateAudience(Changes):
    """Changes to an audience. Its rows are changed by adding or importing.

    How it reads rows can be changed only while it has none.
    """

    id: AudienceId
    name: UniqueName | None = None
    description: Annotated[Description | None, TO_NO_TEXT] = None
    phone_column: Annotated[PhoneColumn | None, TO_NOTHING] = None
    default_country: Annotated[DefaultCountry | None, TO_NOTHING] = None
    metadata: Annotated[Metadata | None, TO_NO_ENTRIES] = None


class DeleteAudience(Input):
    """The audience to delete."""

    id: AudienceId


class AddAudienceRows(Expecting):
    """Rows to add.

    People who are added are called at once by every deployment of the audience that is active, and by a paused one as
    soon as it goes on. Look who that is before, with list_deployments and its filters.
    """

    id: AudienceId
    rows: RowList


class ListAudienceRows(PageQuery):
    """Rows of an audience, in the order in which they came."""

    id: AudienceId
    phone_number: Annotated[
        PersonalFilter | None, Field(description="Only this number, in E.164."), Filter("phone")
    ] = None
    external_id: Annotated[PersonalFilter | None, Field(description="Only this external id."), Filter()] = None


class ImportAudience(Expecting):
    """A file to import: its text in `csv`, its bytes in `file`, its address in `url`, or none to upload a larger one.

    The first row names the columns, at most 100; a cell has up to 1,000 characters. CSV (RFC 4180) may have commas,
    semicolons, tabs or bars between its columns, and any usual encoding. Of XLSX the first shown sheet with a column of
    numbers is read, without hidden rows.

    It goes on after the answer. Until it has ended, no deployment of the audience starts or is resumed
    (`audience_importing`); its people join those that are active or paused already. An import that has not ended
    within 6 hours fails.
    Bad rows are left out and listed. Where more than half are bad, duplicates not counted, none of the file is taken.
    """

    id: AudienceId
    csv: CsvText | None = None
    file: FileBytes | None = None
    url: FileUrl | None = None

    @model_validator(mode="after")
    def _has_one_source(self) -> "ImportAudience":
        if sum(source is not None for source in (self.csv, self.file, self.url)) > 1:
            raise ValueError(
                "give either the text of a file as csv, or its bytes as file, or its address as url, or none of them "
                "to upload it"
            )
        return self


class GetAudienceImport(Input):
    """One import."""

    id: AudienceId
    import_id: ImportId


class ListImportErrors(PageQuery):
    """Rows an import refused."""

    id: AudienceId
    import_id: ImportId
    code: Annotated[OneOrMore[FilterText], Field(description="Only these error codes.")] = None


list_audiences = listing(
    "list_audiences",
    "/audiences",
    takes=ListAudiences,
    gives=Audience,
    sorts=("created_at", "updated_at", "name"),
    summary="List audiences.",
)
create_audience = operation(
    "create_audience",
    "POST /audiences",
    takes=CreateAudience,
    gives=NewAudience,
    status=201,
    problems=(DUPLICATE_NAME,),
    summary="Create an audience.",
)
get_audience = operation(
    "get_audience", "GET /audiences/{id}", takes=GetAudience, gives=Audience, summary="Get an audience."
)
update_audience = operation(
    "update_audience",
    "PATCH /audiences/{id}",
    takes=UpdateAudience,
    gives=Audience,
    problems=(DUPLICATE_NAME,),
    summary="Change an audience.",
)
delete_audience = removal(
    "delete_audience",
    "/audiences/{id}",
    takes=DeleteAudience,
    problems=(AUDIENCE_IN_USE,),
    summary="Delete an audience and its rows.",
)
add_audience_rows = operation(
    "add_audience_rows",
    "POST /audiences/{id}/rows",
    takes=AddAudienceRows,
    gives=RowsAdded,
    status=201,
    problems=(AUDIENCE_FULL, SPENDING_CAP_REACHED),
    summary="Add rows to an audience.",
)
list_audience_rows = listing(
    "list_audience_rows",
    "/audiences/{id}/rows",
    takes=ListAudienceRows,
    gives=AudienceRow,
    sorts=("position",),
    counts_to=MOST_COUNTED,
    summary="List rows of an audience.",
)
import_audience = operation(
    "import_audience",
    "POST /audiences/{id}/imports",
    takes=ImportAudience,
    gives=BegunImport,
    status=202,
    problems=(SPENDING_CAP_REACHED,),
    summary="Import a CSV or XLSX file into an audience.",
)
get_audience_import = operation(
    "get_audience_import",
    "GET /audiences/{id}/imports/{import_id}",
    takes=GetAudienceImport,
    gives=AudienceImport,
    summary="Get an import.",
)
list_import_errors = listing(
    "list_import_errors",
    "/audiences/{id}/imports/{import_id}/errors",
    takes=ListImportErrors,
    gives=RowError,
    sorts=("row_number",),
    counts_to=MOST_COUNTED,
    summary="List the rows an import refused.",
)
