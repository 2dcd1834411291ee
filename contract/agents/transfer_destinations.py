"""The people to whom an agent may hand a call over."""

from typing import Annotated

from pydantic import Field

from callwright.contract.declaration.field_types import E164, PlainText
from callwright.contract.declaration.marks import OwnScript, OwnText
from callwright.contract.declaration.model import Part
from callwright.contract.transfers import TransferKind

MOST_DESTINATIONS = 10


class TransferDestination(Part):
    """A person, or a desk, that takes calls over."""

    name: Annotated[
        OwnText,
        Field(min_length=1, max_length=60, description="By which the agent knows it; unique.", examples=["front desk"]),
        PlainText,
    ]
    to: E164
    kind: Annotated[
        TransferKind,
        Field(
            description=(
                "warm: the person is called first and hears what it is about, while the contact holds. "
                "cold: the call is moved at once."
            )
        ),
    ] = "warm"
    ring_timeout_seconds: Annotated[int, Field(ge=5, le=120, description="How long it rings there.")] = 30
    summary: Annotated[
        OwnScript,
        Field(
            max_length=500,
            description=(
                "What the person hears first in a warm transfer, with {{column}} for values of the contact. A model "
                "adds a summary. Empty: that somebody is on the line who wants to speak to a person."
            ),
        ),
        PlainText,
    ] = ""
    say_before: Annotated[
        OwnScript,
        Field(max_length=500, description="Said to the contact first. Empty: that a colleague is called."),
        PlainText,
    ] = ""
    confirm_key: Annotated[
        OwnText | None,
        Field(
            pattern=r"^[0-9*#]$",
            description=(
                "The person presses this key to take a warm transfer, so that no mailbox takes it. null: whoever "
                "answers takes it."
            ),
            examples=["1"],
        ),
    ] = None
