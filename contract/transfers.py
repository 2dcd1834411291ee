"""Transfers: how the agent of a call hands it over to a person."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.declaration.field_types import Timestamp
from callwright.contract.declaration.marks import OwnNumber, OwnText
from callwright.contract.declaration.model import Resource

MOST_TRANSFERS = 2
"""Tries of a call to transfer it. After as many an agent says that a colleague calls back."""
TransferKind = Literal["warm", "cold"]
TransferStatus = Literal["ringing", "answered", "bridged", "failed"]
TransferCause = Literal[
    "busy",
    "no_answer",
    "rejected",
    "unreachable",
    "hung_up",
    "not_allowed",
    "not_possible",
    "carrier_error",
]


class Transfer(Resource):
    """How a call went on to a person, or why it did not. Of several tries the last."""

    type: Annotated[
        OwnText,
        Field(description="warm: the person is called first, while the agent stays. cold: the call is moved at once."),
    ]
    to: Annotated[
        OwnNumber | None, Field(description="Where to, in E.164; null where no destination is set (simulated).")
    ]
    name: Annotated[OwnText | None, Field(description="The name of the destination.")] = None
    status: Annotated[
        TransferStatus | None,
        Field(description="bridged: the person has taken over. failed: the call went back to the agent, or ended."),
    ] = None
    cause: Annotated[
        TransferCause | None,
        Field(description="Why it failed. not_possible: the call is on no line that can be transferred."),
    ] = None
    started_at: Timestamp | None = None
    bridged_at: Annotated[Timestamp | None, Field(description="When the person took over; null until then.")] = None
