"""Exports: what a deployment has done as one file, for a spreadsheet or a program."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.audiences import RowError
from callwright.contract.declaration.field_types import DeploymentId, ImportId
from callwright.contract.declaration.marks import OwnText
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import media
from callwright.contract.deployments.contacts import Contact

ExportedRows = Literal["contacts", "calls", "outcomes", "rejects"]
ExportFormat = Literal["csv", "parquet"]
CSV, PARQUET = "text/csv", "application/vnd.apache.parquet"
_Simulated = Annotated[bool, Field(description="True when no telephone rang.")]


class ExportedContact(Contact):
    """A row of `contacts`: a person of the deployment."""

    simulated: _Simulated


class CountedOutcome(Resource):
    """A row of `outcomes`: how many calls, or people, came to a result."""

    deployment_id: str
    simulated: _Simulated
    counted: Annotated[
        Literal["outcome", "disposition", "last_outcome"],
        Field(description="outcome and disposition count calls; last_outcome counts people by their last call."),
    ]
    result: OwnText
    count: int


class Reject(RowError):
    """A row of `rejects`: a row of the audience that an import refused."""

    import_id: str
    simulated: _Simulated


class ExportDeployment(Input):
    """What to export. The answer is written while it is sent, so it has no length and no parts, however long it is.

    Rows show what was true when they were read. Calls come newest first; people in the order in which they are called;
    refused rows by import and row. People whose data was deleted are left out, and of their calls only the figures
    are there.
    """

    id: DeploymentId
    of: Annotated[
        ExportedRows,
        Field(
            description=(
                "contacts: its people, and how far it is with each; calls; outcomes: how many calls had which result; "
                "rejects: rows of its audience that imports refused."
            )
        ),
    ] = "contacts"
    import_id: Annotated[
        ImportId | None, Field(description="With rejects: only the rows that this import refused.")
    ] = None
    format: Annotated[ExportFormat, Field(description="parquet needs the extra `parquet` where the service runs.")] = (
        "csv"
    )
    masked: Annotated[
        bool,
        Field(
            description=(
                "true: telephone numbers with their middle masked, and no column with what a list, a caller or a "
                "contact says, such as names."
            )
        ),
    ] = False


export_deployment = media(
    "export_deployment",
    "/deployments/{id}/export",
    takes=ExportDeployment,
    media_types=(CSV, PARQUET),
    is_streamed=True,
    summary="Export the contacts, calls, outcomes or refused rows of a deployment as CSV or Parquet.",
)
