"""The settings of a campaign: what it dials by, and keeps as one value. A further setting is a field here."""

from callwright.contract.declaration.model import Part
from callwright.contract.deployments.dialling import (
    CallerIdStrategy,
    CallingHours,
    CallsPerSecond,
    CircuitBreaker,
    Compliance,
    DailyBudgetCap,
    MaxCallDuration,
    PredialCheckUrl,
    RampUpSeconds,
    Recording,
    ReservedInboundConcurrency,
    RetryPolicy,
    RingTimeout,
    Voicemail,
)


class CampaignSettings(Part):
    """What a campaign dials by. It is made, changed and shown with each field at the top of the deployment.

    `max_concurrency`, `start_at`, `end_at` and `budget_cap` are beside it: inbound deployments have the first, and
    lists and claims compare the others.
    """

    caller_id_strategy: CallerIdStrategy = "round_robin"
    calling_hours: CallingHours | None = None
    calls_per_second: CallsPerSecond = 1.0
    retry_policy: RetryPolicy = RetryPolicy()
    voicemail: Voicemail = Voicemail()
    ring_timeout_seconds: RingTimeout = 30
    max_call_duration_seconds: MaxCallDuration = 600
    compliance: Compliance = Compliance()
    predial_check_url: PredialCheckUrl | None = None
    recording: Recording = Recording()
    circuit_breaker: CircuitBreaker | None = CircuitBreaker()
    daily_budget_cap: DailyBudgetCap | None = None
    ramp_up_seconds: RampUpSeconds = 0
    reserved_inbound_concurrency: ReservedInboundConcurrency = 0


SETTINGS = tuple(CampaignSettings.model_fields)
"""The names of the settings."""
