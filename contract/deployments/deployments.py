"""Deployments: campaigns that call an audience, and numbers whose callers an agent answers. A draft dials nothing."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.agents.agents import AgentSnapshot, KeptVersion
from callwright.contract.declaration.changes import TO_NO_ENTRIES, TO_NOTHING
from callwright.contract.declaration.field_types import (
    AgentId,
    AudienceId,
    DeploymentId,
    MaxConcurrency,
    Metadata,
    Money,
    PhoneNumberId,
    Stored,
    Timestamp,
    UniqueName,
)
from callwright.contract.declaration.filters import Choices, Filter, FilterText, MadeBetween, OneOrMore
from callwright.contract.declaration.marks import DERIVED, CallType, OwnText
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import listing, operation, removal
from callwright.contract.declaration.pagination import MOST_COUNTED, PageQuery
from callwright.contract.declaration.revisions import Expecting, Revision
from callwright.contract.deployments.contacts import Contact, ListContacts, Stats
from callwright.contract.deployments.dialling import (
    BudgetCap,
    CallerIdStrategy,
    CallingHours,
    CallsPerSecond,
    CircuitBreaker,
    Compliance,
    DailyBudgetCap,
    EndAt,
    MaxCallDuration,
    PredialCheckUrl,
    RampUpSeconds,
    Recording,
    ReservedInboundConcurrency,
    RetryPolicy,
    RingTimeout,
    StartAt,
    Strategy,
    Voicemail,
)
from callwright.contract.deployments.inbound import AnsweringChanges, CreateInboundDeployment, Inbound, InboundChanges
from callwright.contract.deployments.previews import PlanId, Preview, PreviewDeployment
from callwright.contract.deployments.start_problems import START_PROBLEMS
from callwright.contract.problems import (
    AUDIENCE_IMPORTING,
    BUDGET_REACHED,
    DUPLICATE_NAME,
    INVALID_STATE_TRANSITION,
    NOT_FOUND,
    NUMBER_NOT_CAPABLE,
    PHONE_NUMBER_ALREADY_BOUND,
    PLAN_EXPIRED,
    PLAN_LIMIT_REACHED,
    PLAN_STALE,
    SPENDING_CAP_REACHED,
)

PhoneNumberIds = Annotated[
    list[PhoneNumberId], Field(min_length=1, max_length=100, description="Numbers to call from, 1 to 100.")
]
DeploymentStatus = Literal["draft", "scheduled", "active", "paused", "completed", "cancelled", "failed"]


class Deployment(Stored):
    """A campaign (outbound), or a number whose callers an agent answers (inbound), whose campaign fields are null."""

    name: OwnText
    call_type: CallType
    status: DeploymentStatus
    status_reason: OwnText | None = None
    status_changed_at: Annotated[Timestamp, DERIVED]
    simulated: Annotated[bool, Field(description="True when its calls are made on the simulated network.")]
    agent_id: str
    agent_version: KeptVersion = None
    agent_snapshot: Annotated[AgentSnapshot | None, DERIVED] = None
    audience_id: str | None
    phone_number_ids: Annotated[list[str], Field(description="Numbers it calls from.")]
    rules_version: Annotated[
        OwnText | None, Field(description="The rules it dials by; null: not started."), DERIVED
    ] = None
    caller_id_strategy: CallerIdStrategy | None
    start_at: Timestamp | None = None
    end_at: Timestamp | None = None
    calling_hours: CallingHours | None = None
    max_concurrency: int
    calls_per_second: float | None
    retry_policy: RetryPolicy | None
    voicemail: Voicemail | None
    ring_timeout_seconds: int | None
    max_call_duration_seconds: int | None
    budget_cap: Money | None = None
    compliance: Compliance | None
    predial_check_url: OwnText | None = None
    recording: Recording | None = None
    circuit_breaker: CircuitBreaker | None = None
    daily_budget_cap: Money | None = None
    ramp_up_seconds: int | None = None
    reserved_inbound_concurrency: int | None = None
    inbound: Annotated[Inbound | None, Field(description="How it takes calls; null in a campaign.")] = None
    stats: Annotated[Stats, DERIVED]
    contact_changes: Annotated[
        Literal["adding", "cancelling", "expiring", "rescheduling"] | None,
        Field(
            description=(
                "What is being done to many contacts in pieces. Nobody is called before all are added, or rescheduled "
                "by changed rules."
            )
        ),
        DERIVED,
    ] = None
    next_dial_at: Annotated[Timestamp | None, Field(description="When the next call may be made."), DERIVED] = None
    waits_for: Annotated[OwnText | None, Field(description="The rule that holds it back until then."), DERIVED] = None
    clock: Annotated[
        Timestamp | None, Field(description="The deployment's own time on the simulated network."), DERIVED
    ] = None
    started_at: Timestamp | None = None
    completed_at: Timestamp | None = None
    plan_id: Annotated[
        str | None, Field(description="The plan it was last started or resumed with; null when without one.")
    ] = None
    revision: Revision | None = None
    metadata: dict[str, OwnText]


class ListDeployments(MadeBetween, PageQuery):
    """Deployments of the organization."""

    status: Annotated[Choices[DeploymentStatus], Field(description="Only these states, for example active,paused.")] = (
        None
    )
    call_type: Annotated[OneOrMore[CallType], Field(description="Only these kinds, for example inbound.")] = None
    name: Annotated[FilterText | None, Field(description="Only the one with exactly this name."), Filter()] = None
    agent_id: Annotated[OneOrMore[FilterText], Field(description="Only those of these agents.")] = None
    audience_id: Annotated[OneOrMore[FilterText], Field(description="Only those of these audiences.")] = None
    idempotency_key: Annotated[
        OwnText | None,
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

    name: UniqueName
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
    predial_check_url: PredialCheckUrl | None = None
    recording: Recording = Recording()
    circuit_breaker: Annotated[
        CircuitBreaker | None, Field(description="When many calls fail the campaign pauses; null: never.")
    ] = CircuitBreaker()
    daily_budget_cap: DailyBudgetCap | None = None
    ramp_up_seconds: RampUpSeconds = 0
    reserved_inbound_concurrency: ReservedInboundConcurrency = 0
    metadata: Metadata = {}


class CloneDeployment(Input):
    """A copy of a campaign, as a draft of its own: the same settings, and nothing of what happened. Costs nothing.

    It has no start_at and no end_at, and whether it is simulated follows from its numbers.
    """

    id: DeploymentId
    name: UniqueName
    agent_id: Annotated[AgentId | None, Field(description="Another agent than the original's.")] = None
    audience_id: Annotated[AudienceId | None, Field(description="Another audience than the original's.")] = None
    phone_number_ids: Annotated[PhoneNumberIds | None, Field(description="Other numbers to call from.")] = None


class UpdateDeployment(Expecting, AnsweringChanges):
    """Changes to a deployment.

    A draft may change in everything; a paused one in all but agent, audience and recording; an active one in name,
    pacing, end_at, budget_cap and metadata. An inbound one has name, max_concurrency, metadata and how it takes calls,
    which may change while it is active, and agent_id, which may change while it is paused. How it takes calls may be
    named as it was made (`business_hours`, `after_hours`, `overflow`, `recording_enabled`) or as it is shown, in
    `inbound`.
    """

    id: DeploymentId
    name: UniqueName | None = None
    agent_id: AgentId | None = None
    audience_id: AudienceId | None = None
    phone_number_ids: PhoneNumberIds | None = None
    caller_id_strategy: Strategy | None = None
    start_at: Annotated[StartAt | None, TO_NOTHING] = None
    end_at: Annotated[EndAt | None, TO_NOTHING] = None
    calling_hours: Annotated[CallingHours | None, TO_NOTHING] = None
    max_concurrency: MaxConcurrency | None = None
    calls_per_second: CallsPerSecond | None = None
    retry_policy: RetryPolicy | None = None
    voicemail: Voicemail | None = None
    ring_timeout_seconds: RingTimeout | None = None
    max_call_duration_seconds: MaxCallDuration | None = None
    budget_cap: Annotated[BudgetCap | None, TO_NOTHING] = None
    compliance: Compliance | None = None
    predial_check_url: Annotated[PredialCheckUrl | None, TO_NOTHING] = None
    recording: Recording | None = None
    circuit_breaker: Annotated[CircuitBreaker | None, TO_NOTHING] = None
    daily_budget_cap: Annotated[DailyBudgetCap | None, TO_NOTHING] = None
    ramp_up_seconds: RampUpSeconds | None = None
    reserved_inbound_concurrency: ReservedInboundConcurrency | None = None
    inbound: InboundChanges | None = None
    metadata: Annotated[Metadata | None, TO_NO_ENTRIES] = None


class DeploymentAction(Input):
    """The deployment to act on."""

    id: DeploymentId


class StartDeployment(Expecting):
    """The deployment whose people are to be called, and the plan that a person said yes to."""

    id: DeploymentId
    plan_id: Annotated[
        PlanId | None,
        Field(
            description=(
                "Plan id (pln_…) from preview_deployment: nobody is called if anything of it has changed since, but "
                "for opt-outs: those people are left out. Required where telephones really ring. Without it, starting "
                "what is scheduled changes nothing; with a "
                "new one it begins at once."
            )
        ),
    ] = None
    jump_clock: Annotated[
        bool,
        Field(
            description=(
                "Simulated network only: begin now although start_at is ahead; the deployment's own clock begins at "
                "start_at."
            )
        ),
    ] = False


_PLAN_PROBLEMS = (PLAN_EXPIRED, PLAN_STALE)
_CHANGE_PROBLEMS = (AUDIENCE_IMPORTING, INVALID_STATE_TRANSITION, PLAN_LIMIT_REACHED, SPENDING_CAP_REACHED)

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
    "POST /deployments",
    takes=CreateDeployment,
    gives=Deployment,
    status=201,
    problems=(NOT_FOUND, DUPLICATE_NAME, *START_PROBLEMS),
    summary="Create an outbound deployment, a draft by default.",
    creator_bound="member",
)
clone_deployment = operation(
    "clone_deployment",
    "POST /deployments/{id}/clone",
    takes=CloneDeployment,
    gives=Deployment,
    status=201,
    problems=(DUPLICATE_NAME, BUDGET_REACHED, PLAN_LIMIT_REACHED),
    summary="Copy a campaign, in whatever state, as a new draft with the same settings.",
    creator_bound="member",
)
create_inbound_deployment = operation(
    "create_inbound_deployment",
    "POST /deployments/inbound",
    takes=CreateInboundDeployment,
    gives=Deployment,
    status=201,
    problems=(
        *(NOT_FOUND, DUPLICATE_NAME, PHONE_NUMBER_ALREADY_BOUND),
        *(NUMBER_NOT_CAPABLE, PLAN_LIMIT_REACHED, SPENDING_CAP_REACHED),
    ),
    summary="Bind a number to an agent that answers its callers.",
    creator_bound="member",
)
get_deployment = operation(
    "get_deployment",
    "GET /deployments/{id}",
    takes=GetDeployment,
    gives=Deployment,
    summary="Get a deployment with its counters.",
)
update_deployment = operation(
    "update_deployment",
    "PATCH /deployments/{id}",
    takes=UpdateDeployment,
    gives=Deployment,
    problems=(DUPLICATE_NAME, BUDGET_REACHED, *_CHANGE_PROBLEMS),
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
    "POST /deployments/{id}/preview",
    takes=PreviewDeployment,
    gives=Preview,
    problems=_PLAN_PROBLEMS,
    only_reads=True,
    summary="Show who a campaign would call, the greeting and the cost; dials nobody.",
)
start_deployment = operation(
    "start_deployment",
    "POST /deployments/{id}/start",
    takes=StartDeployment,
    gives=Deployment,
    problems=(*START_PROBLEMS, *_PLAN_PROBLEMS),
    summary="Start a draft: its contacts are called, from start_at on. What is scheduled begins early by a new plan.",
)
pause_deployment = operation(
    "pause_deployment",
    "POST /deployments/{id}/pause",
    takes=DeploymentAction,
    gives=Deployment,
    problems=(INVALID_STATE_TRANSITION,),
    summary="Pause a deployment; calls under way finish, the queue is kept.",
)
resume_deployment = operation(
    "resume_deployment",
    "POST /deployments/{id}/resume",
    takes=StartDeployment,
    gives=Deployment,
    problems=(*START_PROBLEMS, *_PLAN_PROBLEMS, NUMBER_NOT_CAPABLE),
    summary="Resume a paused deployment.",
)
cancel_deployment = operation(
    "cancel_deployment",
    "POST /deployments/{id}/cancel",
    takes=DeploymentAction,
    gives=Deployment,
    problems=(INVALID_STATE_TRANSITION,),
    summary="Cancel a deployment for good; what is pending is dropped, calls under way finish, its number is unbound.",
)
list_contacts = listing(
    "list_contacts",
    "/deployments/{id}/contacts",
    takes=ListContacts,
    gives=Contact,
    sorts=("position",),
    counts_to=MOST_COUNTED,
    summary="List the contacts of a deployment.",
)
