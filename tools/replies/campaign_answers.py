"""The data that tools return about a deployment: its state after a change, or all of its settings."""

from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.settings import SETTINGS
from callwright.tools.runtime.tool import projection_of

_STATE = ("id", "name", "status", "status_reason", "simulated", "stats", "contact_changes", "plan_id", "next_dial_at")
_ALWAYS = (
    "call_type",
    "inbound",
    "budget_cap",
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
_FURTHER = tuple(name for name in SETTINGS if name not in _ALWAYS)

DeploymentState = projection_of(Deployment, "DeploymentState", *_STATE)
"""A deployment after it was created, changed, started or stopped: what decides the next step."""

OMITTED_AFTER_A_CHANGE = frozenset({"stats", "contact_changes", "plan_id", "simulated", "next_dial_at"})
"""What the schemas of such answers leave out: create_deployment names it."""

InboundState = projection_of(Deployment, "InboundState", "id", "name", "status", "simulated")
"""A new inbound deployment."""

DeploymentFound = projection_of(Deployment, "DeploymentFound", *_STATE, *_ALWAYS, *_FURTHER)
"""A deployment with its settings."""
