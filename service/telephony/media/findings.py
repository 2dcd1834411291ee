"""How a live call ended, and what is known about it beside its turns."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from callwright.service.telephony.engine import AnsweredBy, EndedBy, HangupCause, MachineVerdicts

Then = Literal["listen", "hang_up", "farewell"]
"""What follows a turn of the agent: it listens, ends the call, or listens for a goodbye and then ends it."""
CIRCLES = "The agent said the same sentence again and again, so the call was ended."
TOO_MANY_TURNS = "The call had too many turns, so it was ended."


@dataclass(frozen=True)
class End:
    """How a call ended."""

    cause: HangupCause
    ended_by: EndedBy


@dataclass
class Findings:
    """What is known about a call beside its turns."""

    answered_by: AnsweredBy | None = None
    verdicts: MachineVerdicts = field(default_factory=MachineVerdicts)
    message_left: bool = False
    """A machine has recorded what the agent had to say."""
    disposition: str | None = None
    call_back_at: datetime | None = None
    """When the contact asked to be called, as a tool noted it."""
    warnings: list[str] = field(default_factory=list[str])

    def carrier_saw(self, answered_by: AnsweredBy) -> None:
        """The carrier said who answered."""
        self.verdicts = replace(self.verdicts, carrier=answered_by)

    def heard(self, answered_by: AnsweredBy) -> None:
        """The words, and the beep, say who answered."""
        self.verdicts = replace(self.verdicts, words=answered_by)

    def greeting_ended(self, answered_by: AnsweredBy) -> None:
        """A machine's greeting is over, which says more of it. What was not heard to be a greeting says nothing."""
        if self.verdicts.words is not None:
            self.heard(answered_by)

    def warn(self, sentence: str) -> None:
        """Notes a warning, once."""
        if sentence not in self.warnings:
            self.warnings.append(sentence)
