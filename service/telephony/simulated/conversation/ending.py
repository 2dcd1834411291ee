"""How a conversation ends, and what the agent says and notes at wishes that end it."""

from dataclasses import dataclass, field

from callwright.contract.calls.calls import Disposition
from callwright.service.telephony.engine import EndedBy, HangupCause
from callwright.service.telephony.simulated.conversation.speech_acts import Wish

DEFAULT_CALLBACK_S = 86_400.0
FAREWELLS: dict[Wish, tuple[str, Disposition]] = {
    "opt_out": ("opt_out", "do_not_call"),
    "wrong_number": ("wrong_number", "wrong_number"),
    "no": ("decline", "not_interested"),
    "later": ("later", "callback_requested"),
}
"""Wishes of a contact: what the agent says, and the disposition."""


@dataclass
class Ending:
    """How a conversation ended. Times of the call are the timeline's."""

    disposition: Disposition = "incomplete"
    hangup_cause: HangupCause = "normal_clearing"
    ended_by: EndedBy = "agent"
    met_person: bool = True
    callback_after_s: float | None = None
    unanswered_questions: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    keys: list[str] = field(default_factory=list[str])
    """What the contact entered with the keys of its telephone."""
