"""The audit log: who changed what, when, and through which key and tool."""

from typing import Annotated

from pydantic import Field, JsonValue

from callwright.contract.declaration.field_types import Timestamp
from callwright.contract.declaration.filters import Filter, FilterText
from callwright.contract.declaration.marks import OWN, OwnText
from callwright.contract.declaration.model import Resource
from callwright.contract.declaration.operation import listing
from callwright.contract.declaration.pagination import MOST_COUNTED, PageQuery


class AuditEntry(Resource):
    """One change. It holds no secret, no number of a person who is called, and nothing that was said."""

    id: str
    created_at: Timestamp
    action: Annotated[OwnText, Field(description="The operation, for example start_deployment.")]
    subject_id: Annotated[OwnText, Field(description="What was changed, by its id.")]
    actor_id: Annotated[
        OwnText,
        Field(description="The key that did it; operator for the command line, platform for the service itself."),
    ]
    actor_label: Annotated[OwnText, Field(description="The name of the key; empty without one.")] = ""
    user_id: Annotated[str | None, Field(description="The person for whom a personal key acted.")] = None
    tool: Annotated[OwnText | None, Field(description="The tool of the MCP server; null for other requests.")] = None
    request_id: str | None = None
    changes: Annotated[
        dict[str, JsonValue],
        OWN,
        Field(description="Each field before and after; on a start with a plan, its plan_id."),
    ]


class ListAuditLog(PageQuery):
    """Entries of the last 365 days."""

    created_from: Annotated[
        Timestamp | None,
        Field(description="Only those made at this moment or later, to the second."),
        Filter("at", "from"),
    ] = None
    created_before: Annotated[
        Timestamp | None,
        Field(description="Only those made before this moment, to the second."),
        Filter("at", "before"),
    ] = None
    action: Annotated[
        FilterText | None, Field(description="Only this operation, for example start_deployment."), Filter()
    ] = None
    subject_id: Annotated[
        FilterText | None, Field(description="Only what was done to this thing, by its id."), Filter("subject")
    ] = None
    actor_id: Annotated[
        FilterText | None,
        Field(description="Only what this key did, by its id, or operator or platform."),
        Filter("actor"),
    ] = None
    tool: Annotated[
        FilterText | None,
        Field(description="Only what was done through this tool.", examples=["start_deployment"]),
        Filter(),
    ] = None


list_audit_log = listing(
    "list_audit_log",
    "/audit_log",
    takes=ListAuditLog,
    gives=AuditEntry,
    counts_to=MOST_COUNTED,
    summary="List what was changed, by whom and through which tool.",
)
