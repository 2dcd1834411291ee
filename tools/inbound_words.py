"""How an inbound deployment reads in a reply: a number whose callers an agent answers."""

from callwright.contract.deployments import Deployment
from callwright.contract.inbound import AfterHours, Inbound, Overflow

from .text import line, lines

NEXT = {
    "active": "Next: pause_deployment stops answering callers for a while. cancel_deployment ends it and frees the "
    "number.",
    "paused": "Next: resume_deployment answers callers again, once the person agrees. cancel_deployment ends it and "
    "frees the number.",
}
"""The next step by state."""
NOBODY_CALLS = "Simulated network: nobody calls in yet, no telephone rings, the money is play money."


def settings(deployment: Deployment, inbound: Inbound) -> str:
    """How it takes calls."""
    return lines(
        line(f"agent {deployment.agent_id}", f"answers callers of {inbound.phone_number_id}"),
        line(
            f"up to {deployment.max_concurrency} calls at once, then {_choice(inbound.overflow)}",
            "calls are recorded" if inbound.recording_enabled else "calls are not recorded",
        ),
        _hours(inbound),
        NOBODY_CALLS if deployment.simulated else None,
    )


def _hours(inbound: Inbound) -> str:
    hours = inbound.business_hours
    if hours is None:
        return "answers at any hour"
    windows = [f"{','.join(window.days)} {window.start}-{window.end}" for window in hours.windows]
    return f"answers {'; '.join(windows)} in {hours.timezone}, else {_choice(inbound.after_hours)}"


def _choice(choice: AfterHours | Overflow) -> str:
    return f"{choice.action} to {choice.forward_to}" if choice.forward_to else choice.action
