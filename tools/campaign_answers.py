"""What tools give of a campaign as data: its state after something was done to it, or all of its settings."""

from callwright.contract.deployments import Deployment

from .tool import part_of

_STATE = ("id", "name", "status", "status_reason", "simulated", "stats", "plan_id")
_SETTINGS = (
    "budget_cap",
    "next_dial_at",
    "agent_id",
    "audience_id",
    "phone_number_ids",
    "caller_id_strategy",
    "start_at",
    "end_at",
    "calling_hours",
    "max_concurrency",
    "calls_per_second",
    "retry_policy",
    "voicemail",
    "ring_timeout_seconds",
    "max_call_duration_seconds",
    "compliance",
    "started_at",
    "completed_at",
)

DeploymentState = part_of(Deployment, "DeploymentState", *_STATE)
"""A campaign after it was drafted, changed, started or stopped: what decides the next step."""

DeploymentFound = part_of(Deployment, "DeploymentFound", *_STATE, *_SETTINGS)
"""A campaign with its settings."""
