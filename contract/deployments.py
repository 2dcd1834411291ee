"""Deployments: campaigns that call an audience with an agent. Made as a draft; nothing is dialled before the start."""

from typing import Annotated, Literal

from pydantic import Field

from .dialling import CallingHours, Compliance, RetryPolicy, Voicemail
from .filters import Filter, MadeBetween
from .model import Input, Resource
from .operation import listing, operation, removal
from .pagination import PageQuery
from .previews import PlanId, Preview
from .problems import (
    AUDIENCE_NOT_READY,
    DUPLICATE_NAME,
    INSUFFICIENT_CREDITS,
    INVALID_STATE_TRANSITION,
    NOT_FOUND,
    PLAN_EXPIRED,
    PLAN_LIMIT_REACHED,
    PLAN_REQUIRED,
    PLAN_STALE,
    SPENDING_CAP_REACHED,
)
from .words import (
    AgentId,
    AudienceId,
    DeploymentId,
    Metadata,
    Money,
    Name,
    PhoneNumberId,
    Spend,
    Stored,
    Timestamp,
)

DeploymentStatus = Literal["draft", "scheduled", "active", "paused", "completed", "cancelled", "failed"]
CallerIdStrategy = Literal["round_robin", "sticky", "local_presence", "random"]
ContactStatus = Literal[
    "pending",
    "in_flight",
    "retry_waiting",
    "completed",
    "exhausted",
    "suppressed",
    "skipped",
    "expired",
    "cancelled",
]
DeploymentName = Annotated[Name, Field(description="Name, unique in the organization.")]
MaxConcurrency = Annotated[int, Field(ge=1, le=1_000, description="Calls at the same time; the plan may allow fewer.")]
CallsPerSecond = Annotated[float, Field(ge=0.1, le=100, description="New calls a second.")]
PhoneNumberIds = Annotated[
    list[PhoneNumberId], Field(min_length=1, max_length=100, description="Numbers to call from, 1 to 100.")
]
RingTimeout = Annotated[int, Field(ge=15, le=60, description="Seconds a telephone rings before giving up.")]
MaxCallDuration = Annotated[int, Field(ge=10, le=3_600, description="Seconds after which a call is ended.")]
StartAt = Annotated[Timestamp, Field(description="Not before this moment.")]
EndAt = Annotated[Timestamp, Field(description="No new call from this moment on.")]
BudgetCap = Annotated[Spend, Field(description="The deployment pauses before its calls cost more than this.")]
Strategy = Annotated[
    CallerIdStrategy,
    Field(
        description=(
            "Which number calls: each in turn, always the same one for a contact, "
            "one with the contact's area code or country, or any."
        )
    ),
]


class Stats(Resource):
    """Where a deployment's contacts and calls stand."""

    contacts: int
    pending: Annotated[int, Field(description="Not called yet.")]
    in_flight: Annotated[int, Field(description="Being called now.")]
    retry_waiting: Annotated[int, Field(description="To be called again later.")]
    completed: Annotated[int, Field(description="Reached, or answered in a way that ends it.")]
    exhausted: Annotated[int, Field(description="Every allowed attempt was made without reaching them.")]
    suppressed: Annotated[int, Field(description="Not called because a rule forbids it.")]
    expired: Annotated[int, Field(description="Not called any more because end_at had passed.")]
    cancelled: Annotated[int, Field(description="Not called any more because of a cancellation.")]
    attempts: Annotated[int, Field(description="Calls made.")]
    answered: Annotated[int, Field(description="Calls a person answered.")]
    voicemail: Annotated[int, Field(description="Calls a machine answered.")]
    outcomes: Annotated[dict[str, int], Field(description="Calls by outcome.")]
    dispositions: Annotated[dict[str, int], Field(description="Calls by disposition.")]
    spend: Money


class AgentSnapshot(Resource):
    """The agent as it was when the deployment started."""

    name: str
    voice_id: str
    language: str
    system_prompt: str
    welcome_message: str
    agent_updated_at: Timestamp


class Deployment(Stored):
    """A campaign."""

    name: str
    call_type: Literal["outbound"]
    status: DeploymentStatus
    status_reason: str | None = None
    status_changed_at: Timestamp
    simulated: Annotated[bool, Field(description="True when its calls are made on the simulated network.")]
    agent_id: str
    agent_snapshot: AgentSnapshot | None = None
    audience_id: str
    phone_number_ids: list[str]
    caller_id_strategy: CallerIdStrategy
    start_at: Timestamp | None = None
    end_at: Timestamp | None = None
    calling_hours: CallingHours | None = None
    max_concurrency: int
    calls_per_second: float
    retry_policy: RetryPolicy
    voicemail: Voicemail
    ring_timeout_seconds: int
    max_call_duration_seconds: int
    budget_cap: Money | None = None
    compliance: Compliance
    stats: Stats
    next_dial_at: Annotated[Timestamp | None, Field(description="When the next contact falls due.")] = None
    clock: Annotated[Timestamp | None, Field(description="The deployment's own time on the simulated network.")] = None
    started_at: Timestamp | None = None
    completed_at: Timestamp | None = None
    plan_id: Annotated[
        str | None, Field(description="The plan it was last started or resumed with; null when without one.")
    ] = None
    metadata: dict[str, str]


class Contact(Resource):
    """A person inside a deployment."""

    id: str
    deployment_id: str
    phone_number: str
    status: ContactStatus
    attempts: int
    last_outcome: str | None = None
    last_disposition: str | None = None
    last_call_id: str | None = None
    next_attempt_at: Timestamp | None = None
    values: dict[str, str]


class ListDeployments(MadeBetween, PageQuery):
    """Deployments of the organization."""

    status: Annotated[
        list[DeploymentStatus] | None, Field(description="Only these states, for example active,paused."), Filter()
    ] = None
    call_type: Annotated[Literal["outbound"] | None, Field(description="Only this kind."), Filter()] = None
    name: Annotated[str | None, Field(description="Only the one with exactly this name."), Filter()] = None
    agent_id: Annotated[str | None, Field(description="Only those of this agent."), Filter()] = None
    audience_id: Annotated[str | None, Field(description="Only those of this audience."), Filter()] = None
    idempotency_key: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=255,
            description=(
                "Only the one that a request with this Idempotency-Key made, started, resumed or stopped in the last "
                "24 hours; none when no such request succeeded. Tells after a lost answer whether it was done."
            ),
        ),
        Filter(),
    ] = None


class GetDeployment(Input):
    """One deployment."""

    id: DeploymentId


class CreateDeployment(Input):
    """A new campaign. It stays a draft until it is started, unless auto_start is true."""

    name: DeploymentName
    agent_id: AgentId
    audience_id: AudienceId
    call_type: Annotated[Literal["outbound"], Field(description="Always outbound here.")] = "outbound"
    phone_number_ids: PhoneNumberIds | None = None
    phone_number_id: Annotated[
        PhoneNumberId | None, Field(description="Instead of phone_number_ids: the one number to call from.")
    ] = None
    caller_id_strategy: Strategy = "round_robin"
    auto_start: Annotated[bool, Field(description="Start at once (or at start_at) instead of staying a draft.")] = False
    start_at: StartAt | None = None
    end_at: EndAt | None = None
    calling_hours: CallingHours | None = None
    max_concurrency: MaxConcurrency = 10
    calls_per_second: CallsPerSecond = 1.0
    retry_policy: RetryPolicy = RetryPolicy()
    voicemail: Voicemail = Voicemail()
    ring_timeout_seconds: RingTimeout = 30
    max_call_duration_seconds: MaxCallDuration = 600
    budget_cap: BudgetCap | None = None
    compliance: Compliance = Compliance()
    metadata: Metadata = {}


class UpdateDeployment(Input):
    """Changes to a deployment.

    A draft may change in everything; a paused one in all but agent and audience; an active one in name, pacing, end_at,
    budget_cap and metadata.
    """

    id: DeploymentId
    name: DeploymentName | None = None
    agent_id: AgentId | None = None
    audience_id: AudienceId | None = None
    phone_number_ids: PhoneNumberIds | None = None
    caller_id_strategy: Strategy | None = None
    start_at: StartAt | None = None
    end_at: EndAt | None = None
    calling_hours: CallingHours | None = None
    max_concurrency: MaxConcurrency | None = None
    calls_per_second: CallsPerSecond | None = None
    retry_policy: RetryPolicy | None = None
    voicemail: Voicemail | None = None
    ring_timeout_seconds: RingTimeout | None = None
    max_call_duration_seconds: MaxCallDuration | None = None
    budget_cap: BudgetCap | None = None
    compliance: Compliance | None = None
    metadata: Metadata | None = None


class DeploymentAction(Input):
    """The deployment to act on."""

    id: DeploymentId


class StartDeployment(Input):
    """The deployment whose people are to be called, and the plan that a person said yes to."""

    id: DeploymentId
    plan_id: Annotated[
        PlanId | None,
        Field(
            description=(
                "Plan id (pln_…) from preview_deployment: nobody is called if anything of it has changed since. "
                "Required where telephones really ring."
            )
        ),
    ] = None


class ListContacts(PageQuery):
    """People of a deployment and how far it is with them."""

    id: DeploymentId
    status: Annotated[
        list[ContactStatus] | None, Field(description="Only these states, for example retry_waiting."), Filter()
    ] = None
    last_outcome: Annotated[str | None, Field(description="Only this outcome of the last call."), Filter()] = None
    last_disposition: Annotated[str | None, Field(description="Only this disposition of the last call."), Filter()] = (
        None
    )
    phone_number: Annotated[str | None, Field(description="Only this number, in E.164."), Filter("phone")] = None


_START_PROBLEMS = (
    INVALID_STATE_TRANSITION,
    AUDIENCE_NOT_READY,
    INSUFFICIENT_CREDITS,
    PLAN_LIMIT_REACHED,
    PLAN_REQUIRED,
    SPENDING_CAP_REACHED,
)
_PLAN_PROBLEMS = (PLAN_EXPIRED, PLAN_STALE)

list_deployments = listing(
    "list_deployments",
    "/deployments",
    takes=ListDeployments,
    gives=Deployment,
    sorts=("created_at", "updated_at", "name", "started_at"),
    summary="List deployments.",
)
create_deployment = operation(
    "create_deployment",
    "POST",
    "/deployments",
    takes=CreateDeployment,
    gives=Deployment,
    status=201,
    problems=(NOT_FOUND, DUPLICATE_NAME, *_START_PROBLEMS),
    summary="Create an outbound deployment, a draft by default.",
)
get_deployment = operation(
    "get_deployment",
    "GET",
    "/deployments/{id}",
    takes=GetDeployment,
    gives=Deployment,
    summary="Get a deployment with its counters.",
)
update_deployment = operation(
    "update_deployment",
    "PATCH",
    "/deployments/{id}",
    takes=UpdateDeployment,
    gives=Deployment,
    problems=(DUPLICATE_NAME, INVALID_STATE_TRANSITION, PLAN_LIMIT_REACHED, SPENDING_CAP_REACHED),
    summary="Change a deployment.",
)
delete_deployment = removal(
    "delete_deployment",
    "/deployments/{id}",
    takes=DeploymentAction,
    problems=(INVALID_STATE_TRANSITION,),
    summary="Delete a draft deployment.",
)
preview_deployment = operation(
    "preview_deployment",
    "POST",
    "/deployments/{id}/preview",
    takes=DeploymentAction,
    gives=Preview,
    summary="Show who a deployment would call, the greeting and the cost; dials nobody.",
)
start_deployment = operation(
    "start_deployment",
    "POST",
    "/deployments/{id}/start",
    takes=StartDeployment,
    gives=Deployment,
    problems=(*_START_PROBLEMS, *_PLAN_PROBLEMS),
    summary="Start a draft or scheduled deployment: its contacts are called.",
)
pause_deployment = operation(
    "pause_deployment",
    "POST",
    "/deployments/{id}/pause",
    takes=DeploymentAction,
    gives=Deployment,
    problems=(INVALID_STATE_TRANSITION,),
    summary="Pause a deployment; calls under way finish, the queue is kept.",
)
resume_deployment = operation(
    "resume_deployment",
    "POST",
    "/deployments/{id}/resume",
    takes=StartDeployment,
    gives=Deployment,
    problems=(*_START_PROBLEMS, *_PLAN_PROBLEMS),
    summary="Resume a paused deployment.",
)
cancel_deployment = operation(
    "cancel_deployment",
    "POST",
    "/deployments/{id}/cancel",
    takes=DeploymentAction,
    gives=Deployment,
    problems=(INVALID_STATE_TRANSITION,),
    summary="Cancel a deployment for good; what is pending is dropped, calls under way finish.",
)
list_contacts = listing(
    "list_contacts",
    "/deployments/{id}/contacts",
    takes=ListContacts,
    gives=Contact,
    sorts=("position",),
    summary="List the contacts of a deployment.",
)
