"""An inbound deployment for tests, made of a campaign."""

from typing import Any

from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.inbound import AfterHours, Inbound, Overflow


def inbound_of(campaign: Deployment, **changes: Any) -> Deployment:
    """A number that is answered, with what only the campaign has taken away."""
    without = ("audience_id", "caller_id_strategy", "calls_per_second", "retry_policy", "voicemail", "compliance")
    nobody = ("contacts", "pending", "in_flight", "retry_waiting", "completed", "exhausted", "attempts", "voicemail")
    settings = Inbound(phone_number_id="num_1", after_hours=AfterHours(), overflow=Overflow(), recording_enabled=True)
    return campaign.model_copy(
        update={
            **dict.fromkeys((*without, "ring_timeout_seconds", "max_call_duration_seconds", "budget_cap")),
            "name": "Reception",
            "call_type": "inbound",
            "phone_number_ids": [],
            "inbound": settings,
            "stats": campaign.stats.model_copy(update=dict.fromkeys(nobody, 0)),
            **changes,
        }
    )
