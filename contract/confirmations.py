"""Confirmations: questions to a person that an assistant's host cannot show, so that they are answered on a page.

A key asks and takes the answer; only who is logged in to the dashboard gives one. No operation answers.
"""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.declaration.field_types import DeploymentId, PlainText, Spend, Timestamp
from callwright.contract.declaration.marks import OWN, PERSONAL, OwnScript, OwnText
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import operation

LONGEST_QUESTION = 4_000
"""Characters of a question."""

ConfirmationStatus = Literal["waiting", "yes", "no", "used", "withdrawn"]


class AskConfirmation(Input):
    """What a person is asked, and which call of a tool it is about.

    The same question again gives the answer, once: after that a new question begins.
    """

    tool: Annotated[
        OwnText,
        Field(max_length=60, pattern="^[a-z_]+$", description="The tool that asks.", examples=["start_deployment"]),
    ]
    about: Annotated[
        OwnText,
        Field(
            max_length=64,
            pattern="^[0-9a-f]{64}$",
            description="SHA-256 of the call: its tool, its arguments and what it is held to. An answer counts for it.",
            examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
        ),
    ]
    question: Annotated[
        str,
        PERSONAL,
        OWN,
        Field(min_length=1, max_length=LONGEST_QUESTION, description="The sentence that the person reads."),
        PlainText,
    ]
    mark: Annotated[
        OwnText,
        Field(
            max_length=8,
            pattern="^[0-9a-f]{8}$",
            description="Eight random hexadecimal digits, for a new question.",
            examples=["0a1b2c3d"],
        ),
    ]
    deployment_id: Annotated[DeploymentId | None, Field(description="The deployment that it is about.")] = None
    people: Annotated[
        int | None, Field(ge=0, le=1_000_000_000, description="How many people it means, where that is known.")
    ] = None
    cost_at_most: Annotated[Spend | None, Field(description="What it costs at most, where that is known.")] = None
    agreed_in_conversation: Annotated[
        bool,
        Field(
            description=(
                "The person has said yes where the assistant is: the question with this mark is withdrawn, so that no "
                "second yes can follow. It gives used if an answer to it was taken already."
            )
        ),
    ] = False


class Confirmation(Resource):
    """Where a question stands. Its words are on the page alone."""

    id: str
    status: Annotated[
        ConfirmationStatus,
        Field(
            description=(
                "waiting: nobody has answered. yes, no: the answer, which is given once. withdrawn: the person has "
                "agreed in the conversation. used: an answer to it was taken before."
            )
        ),
    ]
    mark: OwnText
    url: Annotated[OwnScript, Field(description="The page on which a person answers.")]
    asked_at: Timestamp
    expires_at: Annotated[
        Timestamp, Field(description="Until when it can be answered; of a yes, until when it counts.")
    ]
    is_late: Annotated[
        bool, Field(description="Whether the same was asked before, and ended without an answer that was taken.")
    ] = False


ask_confirmation = operation(
    "ask_confirmation",
    "POST /confirmations",
    takes=AskConfirmation,
    gives=Confirmation,
    summary="Ask a person on a page of the dashboard, or take their answer.",
    no_tool="Tools that dial or spend ask by themselves; a model that could ask would ask about something else.",
)
