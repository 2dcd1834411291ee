"""What tools give of a campaign as data: its state after something was done to it, or all of its settings."""

from typing import Annotated

from pydantic import Field

from callwright.contract.deployments import CallerIdStrategy, Stats
from callwright.contract.dialling import CallingHours, Compliance, RetryPolicy, Voicemail
from callwright.contract.words import Money, Timestamp

from .tool import Narrow


class DeploymentState(Narrow):
    """A campaign after it was drafted, changed, started or stopped: what decides the next step."""

    id: str
    name: str
    status: str
    status_reason: str | None = None
    simulated: bool
    stats: Stats
    plan_id: Annotated[str | None, Field(description="The plan it was last started or resumed with.")] = None


class DeploymentFound(DeploymentState):
    """A campaign with its settings."""

    budget_cap: Money | None = None
    next_dial_at: Timestamp | None = None
    agent_id: str
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
    compliance: Compliance
    started_at: Timestamp | None = None
    completed_at: Timestamp | None = None
