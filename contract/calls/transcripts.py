"""Searching what was said, and counting calls: questions over many calls that the service answers by itself."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.calls.calls import CallFilters
from callwright.contract.declaration.field_types import Money, PlainText, Timestamp
from callwright.contract.declaration.marks import Cell, OwnText, Speech
from callwright.contract.declaration.model import Resource
from callwright.contract.declaration.operation import listing, operation
from callwright.contract.declaration.pagination import MOST_COUNTED, PageQuery

GroupBy = Literal[
    "outcome",
    "disposition",
    "agent_id",
    "agent_version",
    "deployment_id",
    "hour",
    "language",
    "answered_by",
    "ended_by",
    "day",
    "callee_hour",
    "callee_weekday",
    "phone_number_id",
]
MOST_READ = 20_000
"""Calls that are read one by one for a group that is not counted: an hour or a weekday of the callee, an own number."""


class Snippet(Resource):
    """A turn in which the words stand."""

    turn_index: int
    role: Literal["agent", "contact"]
    start_seconds: float
    text: Speech


class TranscriptMatch(Resource):
    """A call in whose transcript the words stand."""

    call_id: str
    deployment_id: str | None
    agent_id: str
    contact_id: str | None = None
    contact_name: Cell | None = None
    external_id: Cell | None = None
    simulated: bool
    outcome: OwnText | None
    disposition: OwnText | None
    created_at: Timestamp
    duration_seconds: int
    turn_count: int
    match_count: Annotated[int, Field(description="Turns in which any of the words stand.")]
    snippets: Annotated[list[Snippet], Field(description="The first of those turns, in their order.")]


class SearchTranscripts(CallFilters, PageQuery):
    """Words to look for, over the calls that the filters leave."""

    query: Annotated[
        OwnText,
        Field(
            min_length=1,
            max_length=300,
            description='Words that must all occur; a phrase in double quotes, for example "too expensive" price.',
        ),
        PlainText,
    ]
    speaker: Annotated[Literal["agent", "contact"] | None, Field(description="Only show turns of this speaker.")] = None
    snippets: Annotated[int, Field(ge=0, le=10, description="Turns shown for each call, 0 to 10.")] = 3


class Average(Resource):
    """The sum and the mean of values."""

    total: float
    mean: float


class MoneyAverage(Resource):
    """The sum and the mean of amounts."""

    total: Money
    mean: Money


class Spread(Average):
    """The median and the 90th percentile of values, of many to within 1.6 percent, their sum and their mean."""

    p50: float
    p90: float


class MoneySpread(MoneyAverage):
    """The median and the 90th percentile of amounts, of many to within 1.6 percent, their sum and their mean."""

    p50: Money
    p90: Money


class CallGroup(Resource):
    """Calls that are alike in what was asked to group by."""

    key: Annotated[
        dict[str, OwnText], Field(description="The value of each field grouped by; none where calls have none.")
    ]
    names: Annotated[
        dict[str, OwnText],
        Field(description="The names of the agent and the deployment, and the number, in key, while they exist."),
    ] = {}
    calls: int
    share: Annotated[float, Field(description="Of all calls counted, 0 to 1.")]
    answered: int
    goal_met: Annotated[int | None, Field(description="Answered calls that reached the agent's goal.")] = None
    goal_met_share: Annotated[float | None, Field(description="Those of the answered ones, 0 to 1.")] = None
    hang_ups: Annotated[int, Field(description="Answered calls that the person ended before the agent had finished.")]
    duration_seconds: Annotated[Spread | None, Field(description="Of answered calls.")] = None
    cost: Annotated[MoneySpread | None, Field(description="Of calls that cost anything.")] = None
    answered_cost: Annotated[MoneyAverage | None, Field(description="Of answered calls alone.")] = None


class CallStats(Resource):
    """Counts of calls."""

    calls: int
    answered: int
    goal_met: Annotated[int | None, Field(description="Answered calls that reached the agent's goal.")] = None
    goal_met_share: Annotated[float | None, Field(description="Those of the answered ones, 0 to 1.")] = None
    hang_ups: Annotated[int, Field(description="Answered calls that the person ended before the agent had finished.")]
    duration_seconds: Annotated[Average | None, Field(description="Of all answered calls.")] = None
    cost: Annotated[MoneyAverage | None, Field(description="Of all calls that cost anything.")] = None
    answered_cost: Annotated[MoneyAverage | None, Field(description="Of all answered calls alone.")] = None
    groups: Annotated[list[CallGroup], Field(description="The largest first; at most 200.")]
    groups_left_out: Annotated[int, Field(description="Groups beyond those.")] = 0
    currency: OwnText


class GetCallStats(CallFilters):
    """What to group by, over the calls that the filters leave."""

    group_by: Annotated[
        list[GroupBy],
        Field(
            min_length=1,
            max_length=3,
            description=(
                "Up to three of outcome, disposition, agent_id, agent_version (with its agent), deployment_id, hour "
                "(UTC), day, ended_by; of at most 20,000 calls also callee_hour, callee_weekday, phone_number_id."
            ),
        ),
    ] = ["deployment_id"]


search_transcripts = listing(
    "search_transcripts",
    "/transcripts",
    takes=SearchTranscripts,
    gives=TranscriptMatch,
    sorts=("created_at",),
    counts_to=MOST_COUNTED,
    summary="Search what was said, over many calls.",
)
get_call_stats = operation(
    "get_call_stats",
    "GET /calls/stats",
    takes=GetCallStats,
    gives=CallStats,
    summary="Count calls by outcome, disposition, agent and its version, deployment, hour or language.",
)
