"""The text of an inbound deployment: a number whose callers an agent answers."""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import ValidationError

from callwright.contract.checks.counts import count_of
from callwright.contract.checks.names import named
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.inbound import AfterHours, BusinessHours, Inbound, Overflow
from callwright.tools.wording.text import line, lines
from callwright.tools.wording.value_descriptions import describe_value

NEXT = {
    "active": "Next: pause_deployment stops answering callers for a while. cancel_deployment ends it and frees the "
    "number.",
    "paused": "Next: resume_deployment answers callers again, once the person agrees. cancel_deployment ends it and "
    "frees the number.",
}
"""The next step by state."""
_OUTSIDE = {"reject": "is refused", "voicemail": "may leave a message"}
_BEYOND = {"busy": "hears the busy tone", "queue": "waits"}
SIMULATED = "Simulated network: simulate_inbound_call has people call; no telephone rings, the money is play money."


def settings(deployment: Deployment, inbound: Inbound) -> str:
    """How the deployment takes calls."""
    return lines(
        line(f"agent {deployment.agent_id}", f"answers callers of {inbound.phone_number_id}"),
        line(
            f"up to {count_of(deployment.max_concurrency, 'call')} at once, then {_choice(inbound.overflow)}",
            "calls are recorded" if inbound.recording_enabled else "calls are not recorded",
        ),
        _hours(inbound),
        SIMULATED if deployment.simulated else None,
    )


def _hours(inbound: Inbound) -> str:
    hours = inbound.business_hours
    if hours is None:
        return "answers at any hour"
    windows = [f"{','.join(window.days)} {window.start}-{window.end}" for window in hours.windows]
    return f"answers {'; '.join(windows)} in {hours.timezone}, else {_choice(inbound.after_hours)}"


def _choice(choice: AfterHours | Overflow) -> str:
    return f"{choice.action} to {choice.forward_to}" if choice.forward_to else choice.action


def taking(settings: Mapping[str, Any]) -> tuple[str, str]:
    """How calls are taken, for a sentence that a person agrees to: at which hours, and where other callers go.

    The text has every setting, with forwarding targets unmasked, so that different settings never give the same text.
    `settings` is JSON; another service may leave some out.
    """
    most, hours = settings.get("max_concurrency"), settings.get("business_hours")
    at_once = f"up to {count_of(most, 'call')} at a time" if isinstance(most, int) else "any number of calls at a time"
    recorded = "recorded" if settings.get("recording_enabled", True) else "not recorded"
    outside: Any = settings.get("after_hours")
    others: list[str | None] = []
    if hours:
        others.append(_others("at another hour", outside, _OUTSIDE))
    elif isinstance(outside, dict) and cast("dict[str, Any]", outside).get("forward_to"):
        others.append(_others("outside of hours, once there are some,", outside, _OUTSIDE))
    others.append(_others("beyond that number", settings.get("overflow"), _BEYOND))
    return f"{_hours_said(hours)}, {at_once}, {recorded}", " ".join(filter(None, others))


def _hours_said(hours: Any) -> str:
    if not hours:
        return "at any hour"
    try:
        found = BusinessHours.model_validate(hours)
    except ValidationError:
        return f"at the hours {describe_value(hours)}"
    windows = [f"{'+'.join(window.days)} {window.start}-{window.end}" for window in found.windows]
    return f"at {', '.join(windows)} ({found.timezone})"


def _others(who: str, choice: Any, known: Mapping[str, str]) -> str | None:
    if not isinstance(choice, dict):
        return None
    found = cast("dict[str, Any]", choice)
    action, target = str(found.get("action")), found.get("forward_to")
    if action == "forward" and target:
        return f"Who calls {who} is forwarded to {named(str(target))}."
    return f"Who calls {who} {known[action]}." if action in known else f"Who calls {who}: {describe_value(found)}."
