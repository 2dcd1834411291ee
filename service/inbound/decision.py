"""What a caller gets: pure functions over what the number's routing webhook said, the hours, and the deployment.

The order: the webhook's answer; without a usable one the bound deployment, then the number's fallback, then busy. Whom
the agent is to answer meets the business hours first, and the lines after that (`waiting_lines`).
"""

from dataclasses import dataclass
from typing import Literal

from callwright.contract.inbound_routing import RoutingFallback
from callwright.service.inbound.routing.answers import RoutingAnswer

from callwright.contract.deployments.inbound import AfterHours, BusinessHours
from callwright.service.rules.business_hours import are_open
from callwright.service.telephony.answering import Answering

RoutedBy = Literal["deployment", "webhook", "fallback"]
BUSY, CLOSED = Answering("reject", "busy"), Answering("reject", "closed")
AFTER_HOURS = "after_hours"
PAUSED = "deployment_paused"


@dataclass(frozen=True)
class Decision:
    """What a caller gets, who decided it, and why where it is not the agent."""

    answering: Answering
    routed_by: RoutedBy
    reason: str | None = None

    @property
    def wants_agent(self) -> bool:
        """Whether the agent is to answer, if there is a line."""
        return self.answering.action == "agent"


@dataclass(frozen=True)
class Answers:
    """How the deployment of a number takes calls now."""

    is_active: bool
    hours: BusinessHours | None
    after_hours: AfterHours
    fallback: RoutingFallback | None
    """The number's own, where the deployment answers nobody."""


def decide(answers: Answers, answer: RoutingAnswer | None, *, at_ms: int) -> Decision:
    """The decision for a caller at a moment. `answer` is the webhook's; None: it was not asked, or is not usable."""
    if answer is not None and answer.action == "reject":
        reason = answer.reject_reason or "busy"
        return Decision(Answering("reject", reason), "webhook", reason)
    if answer is not None and answer.action == "transfer":
        return Decision(Answering("forward", forward_to=answer.transfer_to), "webhook", "transfer")
    by: RoutedBy = "deployment" if answer is None else "webhook"
    if not answers.is_active:
        return _fallen_back(answers.fallback)
    if not are_open(answers.hours, at_ms):
        return _after_hours(answers.after_hours, by)
    return Decision(Answering("agent"), by)


def _fallen_back(fallback: RoutingFallback | None) -> Decision:
    if fallback is not None and fallback.action == "forward":
        return Decision(Answering("forward", forward_to=fallback.forward_to), "fallback", PAUSED)
    return Decision(BUSY if fallback is None else CLOSED, "fallback", PAUSED)


def _after_hours(after: AfterHours, by: RoutedBy) -> Decision:
    match after.action:
        case "voicemail":
            return Decision(Answering("voicemail"), by, AFTER_HOURS)
        case "forward":
            return Decision(Answering("forward", forward_to=after.forward_to), by, AFTER_HOURS)
        case "reject":
            return Decision(CLOSED, by, AFTER_HOURS)
