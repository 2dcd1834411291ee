"""The overview: what an organization has and what is under way, in one answer."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.audiences import AudienceStatus
from callwright.contract.declaration.field_types import Money, Timestamp
from callwright.contract.declaration.marks import CallType, OwnNumber, OwnText
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import operation
from callwright.contract.deployments.deployments import DeploymentStatus

MOST_SHOWN = 5
"""Entries of each kind; campaigns under way come first."""


class Count(Resource):
    """How many there are of a kind, and which of them are shown."""

    total: int


class OverviewAgent(Resource):
    """An agent, in brief."""

    id: str
    name: OwnText
    language: OwnText


class OverviewAudience(Resource):
    """An audience, in brief."""

    id: str
    name: OwnText
    status: AudienceStatus
    people: Annotated[int, Field(description="Rows that can be called.")]


class OverviewNumber(Resource):
    """A rented number, in brief."""

    id: str
    number: OwnNumber
    label: OwnText
    answered_by: Annotated[
        OwnText | None, Field(description="The inbound deployment whose agent answers its callers.")
    ] = None


class OverviewDeployment(Resource):
    """A deployment, in brief."""

    id: str
    name: OwnText
    call_type: CallType
    status: DeploymentStatus
    status_reason: OwnText | None = None
    agent: Annotated[OwnText | None, Field(description="The agent's name.")] = None
    audience: Annotated[OwnText | None, Field(description="The audience's name.")] = None
    contacts: int
    ended: Annotated[int, Field(description="Contacts who are not called again.")]
    reached: Annotated[int, Field(description="Of these, who answered, was transferred or got a message.")]
    spend: Annotated[Money, Field(description="What its calls have cost.")]
    next_start: Annotated[Timestamp | None, Field(description="When a scheduled one begins.")] = None


class OverviewAgents(Count):
    """The agents: how many, and the newest."""

    newest: list[OverviewAgent]


class OverviewAudiences(Count):
    """The audiences: how many, and the newest."""

    newest: list[OverviewAudience]


class OverviewNumbers(Count):
    """The rented numbers: how many, and the newest."""

    newest: list[OverviewNumber]


class OverviewDeployments(Count):
    """The deployments: how many, those under way, and the newest."""

    running: Annotated[int, Field(description="How many are active.")]
    shown: Annotated[list[OverviewDeployment], Field(description="Active ones first, then the newest.")]


class OverviewWallet(Resource):
    """The money, in brief."""

    available: Annotated[Money, Field(description="What can be spent now.")]
    reserved: Annotated[Money, Field(description="Held back for calls that are under way.")]
    low_balance: bool
    play_money: Annotated[bool, Field(description="True on the simulated network: the money is not real.")]


class OverviewLimits(Resource):
    """The limits of the organization's plan; null where there is none."""

    plan: OwnText
    concurrent_deployments: int | None = None
    concurrent_calls: int | None = None
    reserved_inbound_concurrency: Annotated[
        int | None, Field(description="Of these, lines that campaigns leave free for callers; null for none.")
    ] = None
    requests_per_second: int | None = None
    recording_retention_days: Annotated[int, Field(description="Recordings are deleted so long after their call.")]


class Overview(Resource):
    """What an organization has and what is under way."""

    organization: OwnText
    network: Annotated[
        Literal["simulated", "real"],
        Field(description="real: calls from owned numbers ring; simulated: no telephone rings, whatever is called."),
    ]
    agents: OverviewAgents
    audiences: OverviewAudiences
    phone_numbers: OverviewNumbers
    deployments: OverviewDeployments
    calls_under_way: int
    undecided_reviews: Annotated[
        int, Field(description="Compliance reviews that wait for a decision, those past due as well.")
    ] = 0
    wallet: OverviewWallet
    limits: OverviewLimits


class GetOverview(Input):
    """The organization."""


get_overview = operation(
    "get_overview",
    "GET /overview",
    takes=GetOverview,
    gives=Overview,
    summary="Get what there is: agents, audiences, numbers, campaigns, money and limits.",
)
