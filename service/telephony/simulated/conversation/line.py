"""What an agent's policy needs of a call: a line to speak on, what was heard there, and what it waits for."""

from dataclasses import dataclass
from typing import Literal, Protocol

from callwright.service.telephony.engine import Speaker

Awaited = Literal["opening", "reply", "farewell", "connected", "transfer"]
"""What the agent waits for: the contact's first words, its answer, its goodbye, who was called to the telephone, or
what comes of a transfer."""


class Line(Protocol):
    """Where the agent speaks: a call in virtual time, or a real one."""

    @property
    def cut(self) -> bool:
        """The time of the call is over; nothing more is said."""
        ...

    @property
    def agent_has_spoken(self) -> bool:
        """Whether the agent has said anything yet."""
        ...

    def heard_of(self, speaker: Speaker) -> str:
        """What was heard of that side's last turn; empty if it has not spoken."""
        ...

    def say(self, speaker: Speaker, text: str, language: str, *, gap_s: float) -> None:
        """Says a turn `gap_s` after the last one."""
        ...

    def wait(self, seconds: float) -> None:
        """Lets time pass in which nobody speaks."""
        ...


@dataclass(frozen=True)
class Heard:
    """What the contact said or entered with keys, and in which way."""

    text: str
    language: str
    keys: str = ""
    hangs_up: bool = False
    cuts_in: bool = False
    """It interrupted the agent."""
    language_wanted: str = ""
    callback_after_s: float | None = None
    has_more: bool = False
    """It says more after the agent's goodbye, whatever that was."""
