"""Events: what the service tells subscribers, with the payload of each type."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from .contacts import Stats
from .model import Resource
from .words import Timestamp

EVENT_TYPES: dict[str, "EventType"] = {}


@dataclass(frozen=True)
class EventType:
    """A type of event: when it fires and what its `data` holds."""

    name: str
    data: type[Resource]
    fires: str

    def __post_init__(self) -> None:
        EVENT_TYPES[self.name] = self


class EventEnvelope(Resource):
    """What every event is wrapped in."""

    id: str
    type: str
    created_at: Annotated[str, Field(description="When it was generated, with milliseconds.")]
    org_id: str
    data: dict[str, Any]


class CallStarted(Resource):
    """Data of call.started."""

    call_id: str
    deployment_id: str | None
    agent_id: str
    call_type: str
    attempt_number: int
    simulated: bool


class CallCompleted(CallStarted):
    """Data of call.completed."""

    duration_seconds: int
    outcome: str
    recording_url: str | None
    transcript_url: str | None
    status: str
    disposition: str | None
    hangup_cause: str | None
    answered_by: str | None


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
    reason: str
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
    status: str
    status_reason: str | None
    stats: Stats
    started_at: Timestamp | None
    completed_at: Timestamp
    simulated: bool


class WalletLowBalance(Resource):
    """Data of wallet.low_balance."""

    balance: str
    threshold: str
    currency: str
    play_money: bool


class WalletTopupSettled(Resource):
    """Data of wallet.topup_settled."""

    transaction_id: str
    amount: str
    currency: str
    balance: str
    method: str
    play_money: bool


class ImportCompleted(Resource):
    """Data of audience.import_completed."""

    audience_id: str
    import_id: str
    status: str
    added: int
    invalid: int
    duplicates: int


CALL_STARTED = EventType("call.started", CallStarted, "the carrier accepted the call")
CALL_COMPLETED = EventType("call.completed", CallCompleted, "the call ended, for any reason")
DEPLOYMENT_STARTED = EventType("deployment.started", DeploymentStarted, "the campaign dials for the first time")
DEPLOYMENT_PAUSED = EventType("deployment.paused", DeploymentPaused, "the deployment was paused; `reason` says why")
DEPLOYMENT_RESUMED = EventType("deployment.resumed", DeploymentPaused, "a paused deployment goes on")
DEPLOYMENT_AUDIENCE_EXHAUSTED = EventType("deployment.audience_exhausted", AudienceExhausted, "nobody is left to call")
DEPLOYMENT_COMPLETED = EventType(
    "deployment.completed", DeploymentCompleted, "the deployment finished, or was cancelled"
)
WALLET_LOW_BALANCE = EventType(
    "wallet.low_balance", WalletLowBalance, "the balance dropped below the threshold; once for each drop"
)
WALLET_TOPUP_SETTLED = EventType("wallet.topup_settled", WalletTopupSettled, "a top-up settled")
AUDIENCE_IMPORT_COMPLETED = EventType("audience.import_completed", ImportCompleted, "an import ended")
