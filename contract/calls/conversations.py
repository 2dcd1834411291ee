"""Reading many conversations in a row: what was said on the calls that filters leave, as much as fits."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.calls.calls import CallFilters, OfPerson
from callwright.contract.declaration.field_types import Timestamp
from callwright.contract.declaration.marks import Cell, OwnText, Speech
from callwright.contract.declaration.model import Resource
from callwright.contract.declaration.operation import operation
from callwright.contract.problems import INVALID_CURSOR

View = Literal["conversations", "distinct_turns", "unanswered_questions"]
MOST_SILENT = 1_000
"""Calls on which nobody spoke are counted up to this number."""
MOST_CALLS = 2_000
"""Calls that one answer covers where equal turns are put together."""


class SpokenTurn(Resource):
    """One thing said or done, without its times."""

    index: int
    role: Annotated[
        Literal["agent", "contact", "system"], Field(description="system: nobody speaks, and the agent calls a tool.")
    ]
    text: Annotated[Speech, Field(description="Empty where a tool is called.")]
    tool: Annotated[OwnText | None, Field(description="The tool, of role system; get_transcript shows its answer.")] = (
        None
    )
    ok: Annotated[bool | None, Field(description="Of role system: whether the tool worked.")] = None


class Conversation(Resource):
    """What was said on one call."""

    call_id: str
    contact_name: Cell | None = None
    external_id: Cell | None = None
    deployment_id: OwnText | None
    deployment_name: OwnText | None
    outcome: OwnText | None
    disposition: OwnText | None
    created_at: Timestamp
    duration_seconds: int
    turns: list[SpokenTurn]
    turns_left: Annotated[int, Field(description="Turns that did not fit; get_transcript reads them.")] = 0


class SaidOn(Resource):
    """A call on which something was said, and to whom."""

    call_id: str
    contact_name: Cell | None = None
    external_id: Cell | None = None


class DistinctTurn(Resource):
    """What was said word for word the same, once."""

    text: Speech
    role: Literal["agent", "contact"]
    count: Annotated[int, Field(description="How often it was said.")]
    calls: Annotated[int, Field(description="On how many of the calls.")]
    said_on: Annotated[list[SaidOn], Field(description="These calls; of more than five the first two.")]


class Conversations(Resource):
    """What was said on some calls, the newest first."""

    view: View
    calls: Annotated[int, Field(description="Calls that this answer covers; only those on which somebody spoke.")]
    silent_calls: Annotated[
        int | None,
        Field(
            description="In the view `conversations`, where one answer covers all: calls on which nobody spoke, up to "
            "1,000."
        ),
    ] = None
    conversations: Annotated[list[Conversation], Field(description="In the view `conversations`.")] = []
    distinct_turns: Annotated[
        list[DistinctTurn], Field(description="In the other views: the most frequent first.")
    ] = []
    next_cursor: Annotated[OwnText | None, Field(description="Send as cursor to read on; null at the end.")] = None


class ReadConversations(OfPerson, CallFilters):
    """Which calls to read, and how."""

    view: Annotated[
        View,
        Field(
            description=(
                "conversations: call by call. distinct_turns: what was said word for word the same once, with counts, "
                "over up to 2,000 calls an answer. unanswered_questions: likewise what the agent could not answer."
            )
        ),
    ] = "conversations"
    speaker: Annotated[Literal["agent", "contact"] | None, Field(description="Only what this side said.")] = None
    max_tokens: Annotated[
        int, Field(ge=200, le=20_000, description="About how many tokens the answer may have, 4 bytes each.")
    ] = 4_000
    cursor: Annotated[
        OwnText | None,
        Field(min_length=1, max_length=2000, description="next_cursor of the previous answer; continues after it."),
    ] = None


read_conversations = operation(
    "read_conversations",
    "GET /calls/conversations",
    takes=ReadConversations,
    gives=Conversations,
    problems=(INVALID_CURSOR,),
    summary="Read what was said on many calls.",
)
