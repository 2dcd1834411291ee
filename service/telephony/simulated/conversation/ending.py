"""How a conversation ends, and what the agent says and notes at wishes that end it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from callwright.contract.calls.calls import Disposition
from callwright.service.rules.spoken_moments.reading import spoken_moment
from callwright.service.rules.spoken_moments.spoken_moment import SpokenMoment
from callwright.service.telephony.engine import EndedBy, HangupCause
from callwright.service.telephony.simulated.conversation.line import Heard
from callwright.service.telephony.simulated.conversation.speech_acts import Wish

DEFAULT_CALLBACK_S = 86_400.0
"""After which somebody is called who asks for a call and names no moment that is understood."""
FAREWELLS: Mapping[Wish, tuple[str, Disposition]] = {
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
    callback_said: SpokenMoment | None = None
    """When the contact wants to be called, as it said so."""
    has_booked: bool = False
    """A tool that changes something has done so: what the call was to achieve is achieved."""
    unanswered_questions: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    keys: list[str] = field(default_factory=list[str])
    """What the contact entered with the keys of its telephone."""

    def settle(self, *, refused: int, asked: int, unbooked: Disposition | None) -> None:
        """Notes what came of a call that goes to its end, unless that is known: `refused` of what it `asked` for.

        `unbooked`: what it is called if the tool that was to do something has not done it.
        """
        if self.disposition != "incomplete":
            return
        if 2 * refused >= max(asked, 1):
            self.disposition = "not_interested"
        else:
            self.disposition = "interested" if refused else unbooked or "goal_met"

    def take_leave(self, wish: Wish, heard: Heard, language: str, *, may_call_back: bool) -> str:
        """Notes a wish of `FAREWELLS`. Returns the key of what the agent says to it."""
        phrase, disposition = FAREWELLS[wish]
        if not (self.has_booked and wish == "no"):
            self.disposition = disposition
        if wish == "later":
            after_s = heard.callback_after_s
            self.callback_said = None if after_s is not None else spoken_moment(heard.text, language)
            is_open = after_s is None and self.callback_said is None
            self.callback_after_s = DEFAULT_CALLBACK_S if is_open else after_s
            phrase = "later_noted" if not may_call_back else "later_open" if is_open else "later"
        return phrase
