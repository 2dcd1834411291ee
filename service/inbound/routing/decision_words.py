"""What a caller gets, in words, for the log."""

from callwright.service.inbound.decision import AFTER_HOURS, PAUSED, Decision
from callwright.service.inbound.routing.answers import RoutingAnswer

_BECAUSE = {AFTER_HOURS: "outside the business hours ", PAUSED: "no active deployment answers the number, so "}
_REFUSED = {
    "busy": "the caller hears the busy tone",
    "blocked": "the call is refused as blocked",
    "closed": "the call is refused as closed",
}


def decision_words(decision: Decision, agent_id: str | None, answer: RoutingAnswer | None) -> str:
    """A sentence. `agent_id` is the agent who answers, if one does; `answer` is the usable one, if there is one."""
    said = _BECAUSE.get(decision.reason or "", "") + _what(decision, agent_id, answer)
    return f"{said[0].upper()}{said[1:]}."


def _what(decision: Decision, agent_id: str | None, answer: RoutingAnswer | None) -> str:
    answering = decision.answering
    match answering.action:
        case "agent":
            own = ", ".join(sorted(answer.overrides.named())) if answer is not None else ""
            waits = f"the caller waits at position {answering.wait.position}, then " if answering.wait else ""
            return f"{waits}agent {agent_id} answers{f' with another {own}' if own else ''}"
        case "voicemail":
            return "the caller can leave a message"
        case "forward":
            return f"the caller is forwarded to {answering.forward_to}"
        case "reject":
            return _REFUSED[answering.reject_reason or "busy"]
