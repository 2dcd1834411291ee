"""Events: what the service tells subscribers, with the payload of each type."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from callwright.contract.attempts import AttemptOutcome
from callwright.contract.compliance_reviews import ReviewCategory, ReviewSeverity, ReviewSubject
from callwright.contract.declaration.field_types import Timestamp
from callwright.contract.declaration.marks import OWN, OwnText
from callwright.contract.declaration.model import Resource
from callwright.contract.deployments.contacts import Stats
from callwright.contract.inbound_routing import FAILURES_UNTIL_ALERT
from callwright.contract.transfers import Transfer

EVENT_TYPES: dict[str, "EventType"] = {}


@dataclass(frozen=True)
class EventType:
    """A type of event: when it fires, what its `data` holds, and which member of that names what it is about."""

    name: str
    data: type[Resource]
    fires: str
    subject: str | None

    def __post_init__(self) -> None:
        if self.subject is not None and self.subject not in self.data.model_fields:
            raise ValueError(f"{self.name} has no {self.subject}")
        EVENT_TYPES[self.name] = self

    def subject_of(self, data: Resource) -> str | None:
        """The id of what an event with this payload is about; None where it is about no one thing."""
        return None if self.subject is None else getattr(data, self.subject)


class EventEnvelope(Resource):
    """What every event is wrapped in."""

    id: str
    type: OwnText
    created_at: Annotated[OwnText, Field(description="When it was generated, with milliseconds.")]
    org_id: str
    data: Annotated[dict[str, Any], OWN]


class CallStarted(Resource):
    """Data of call.started."""

    call_id: str
    deployment_id: str | None
    agent_id: str
    call_type: OwnText
    attempt_number: int
    simulated: bool


class CallCompleted(CallStarted):
    """Data of call.completed."""

    duration_seconds: int
    outcome: OwnText
    recording_url: OwnText | None
    transcript_url: OwnText | None
    status: OwnText
    disposition: OwnText | None
    hangup_cause: OwnText | None
    answered_by: OwnText | None
    transfer: Transfer | None = None


class CallToolCalled(Resource):
    """Data of call.tool_called. What was asked and answered is in the transcript."""

    call_id: str
    deployment_id: str | None
    agent_id: str
    turn_index: Annotated[int, Field(description="The turn of the transcript that has arguments and result.")]
    tool: OwnText
    ok: bool
    latency_ms: int
    simulated: bool


class CallTransferred(Resource):
    """Data of call.transferred."""

    call_id: str
    deployment_id: str | None
    agent_id: str
    transfer: Transfer
    simulated: bool


class CallUnconfirmed(Resource):
    """Data of call.unconfirmed."""

    call_id: str
    deployment_id: str
    agent_id: str
    contact_id: str
    simulated: bool


class DeploymentStarted(Resource):
    """Data of deployment.started."""

    deployment_id: str
    agent_id: str
    audience_id: str
    started_at: Timestamp
    contacts: int
    simulated: bool


class DeploymentPaused(Resource):
    """Data of deployment.paused and deployment.resumed."""

    deployment_id: str
    reason: OwnText
    simulated: bool


class AudienceExhausted(Resource):
    """Data of deployment.audience_exhausted."""

    deployment_id: str
    audience_id: str
    stats: Stats
    simulated: bool


class DeploymentCompleted(Resource):
    """Data of deployment.completed."""

    deployment_id: str
    status: OwnText
    status_reason: OwnText | None
    stats: Stats
    started_at: Timestamp | None
    completed_at: Timestamp
    simulated: bool


class WalletLowBalance(Resource):
    """Data of wallet.low_balance."""

    balance: OwnText
    threshold: OwnText
    currency: OwnText
    play_money: bool


class WalletTopupSettled(Resource):
    """Data of wallet.topup_settled."""

    transaction_id: str
    amount: OwnText
    currency: OwnText
    balance: OwnText
    method: OwnText
    play_money: bool


class ImportCompleted(Resource):
    """Data of audience.import_completed."""

    audience_id: str
    import_id: str
    status: OwnText
    added: int
    invalid: int
    duplicates: int


class DeploymentFailed(Resource):
    """Data of deployment.failed."""

    deployment_id: str
    status: OwnText
    status_reason: OwnText | None
    stats: Stats
    started_at: Timestamp | None
    failed_at: Timestamp
    simulated: bool


class PhoneNumberStatusChanged(Resource):
    """Data of phone_number.status_changed."""

    phone_number_id: str
    status: OwnText
    previous_status: OwnText
    simulated: bool


class PhoneNumberRoutingFailing(Resource):
    """Data of phone_number.routing_failing and phone_number.routing_recovered."""

    phone_number_id: str
    failures: Annotated[int, Field(description="Questions in a row that had no usable answer.")]
    last_outcome: AttemptOutcome
    failing_since: Timestamp
    simulated: bool


class WebhookDisabled(Resource):
    """Data of webhook.disabled."""

    webhook_id: str
    reason: OwnText
    consecutive_failures: int
    last_response_status: int | None


class ComplianceActionRequired(Resource):
    """Data of compliance.action_required."""

    review_id: str
    subject: ReviewSubject
    category: ReviewCategory
    severity: ReviewSeverity
    message: OwnText
    due_at: Timestamp
    action_url: Annotated[OwnText, Field(description="Where the review is read and decided.")]
    simulated: bool


class WebhookTest(Resource):
    """Data of webhook.test."""

    webhook_id: str
    message: OwnText


CALL_STARTED = EventType("call.started", CallStarted, "the carrier accepted the call", "call_id")
CALL_COMPLETED = EventType("call.completed", CallCompleted, "the call ended, for any reason", "call_id")
CALL_TOOL_CALLED = EventType(
    "call.tool_called",
    CallToolCalled,
    "the agent called one of its tools; it is told when the call has ended, once for each time",
    "call_id",
)
CALL_TRANSFERRED = EventType("call.transferred", CallTransferred, "a person has taken over the call", "call_id")
CALL_UNCONFIRMED = EventType(
    "call.unconfirmed",
    CallUnconfirmed,
    "nobody knows whether the telephone rang: its contact is held until resolve_call says so",
    "call_id",
)
DEPLOYMENT_STARTED = EventType(
    "deployment.started", DeploymentStarted, "the campaign dials for the first time", "deployment_id"
)
DEPLOYMENT_PAUSED = EventType(
    "deployment.paused", DeploymentPaused, "the deployment was paused; `reason` says why", "deployment_id"
)
DEPLOYMENT_RESUMED = EventType("deployment.resumed", DeploymentPaused, "a paused deployment goes on", "deployment_id")
DEPLOYMENT_AUDIENCE_EXHAUSTED = EventType(
    "deployment.audience_exhausted", AudienceExhausted, "nobody is left to call", "deployment_id"
)
DEPLOYMENT_COMPLETED = EventType(
    "deployment.completed",
    DeploymentCompleted,
    "the deployment finished, or was cancelled and its last call has ended",
    "deployment_id",
)
WALLET_LOW_BALANCE = EventType(
    "wallet.low_balance", WalletLowBalance, "the balance dropped below the threshold; once for each drop", None
)
WALLET_TOPUP_SETTLED = EventType("wallet.topup_settled", WalletTopupSettled, "a top-up settled", "transaction_id")
AUDIENCE_IMPORT_COMPLETED = EventType("audience.import_completed", ImportCompleted, "an import ended", "audience_id")
DEPLOYMENT_FAILED = EventType(
    "deployment.failed", DeploymentFailed, "the deployment cannot go on; `status_reason` says why", "deployment_id"
)
PHONE_NUMBER_STATUS_CHANGED = EventType(
    "phone_number.status_changed",
    PhoneNumberStatusChanged,
    "a number was released, or a carrier rented or refused it",
    "phone_number_id",
)
PHONE_NUMBER_ROUTING_FAILING = EventType(
    "phone_number.routing_failing",
    PhoneNumberRoutingFailing,
    f"the routing webhook of a number gave no usable answer for {FAILURES_UNTIL_ALERT} callers in a row; once until "
    "it recovers",
    "phone_number_id",
)
PHONE_NUMBER_ROUTING_RECOVERED = EventType(
    "phone_number.routing_recovered",
    PhoneNumberRoutingFailing,
    "a routing webhook that was failing gives usable answers again",
    "phone_number_id",
)
WEBHOOK_DISABLED = EventType(
    "webhook.disabled",
    WebhookDisabled,
    "a webhook subscription was disabled; it goes to the other subscriptions",
    "webhook_id",
)
WEBHOOK_TEST = EventType(
    "webhook.test", WebhookTest, "somebody asked for a test; it goes to that subscription alone", "webhook_id"
)
COMPLIANCE_ACTION_REQUIRED = EventType(
    "compliance.action_required",
    ComplianceActionRequired,
    "a compliance review was opened, and once more when it is past due: a person has to decide it",
    "review_id",
)


def _known(value: str) -> str:
    if value not in _NAMES:
        raise ValueError(f"is no event; there are {', '.join(_NAMES[:-1])}, and {EVERY} for all of them")
    return value


def _described(schema: dict[str, Any]) -> None:
    schema["enum"] = _NAMES


EVERY = "*"
"""Stands for every event, also those of later versions."""
_NAMES = [*sorted(EVENT_TYPES), EVERY]
EventName = Annotated[OwnText, AfterValidator(_known), Field(json_schema_extra=_described)]
