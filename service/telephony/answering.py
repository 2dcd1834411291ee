"""What somebody who calls in gets: the agent, a mailbox, another telephone, or a refusal, perhaps after a wait."""

from dataclasses import dataclass
from typing import Literal

AnsweringAction = Literal["agent", "voicemail", "forward", "reject"]
RejectReason = Literal["busy", "blocked", "closed"]
"""`busy`: all lines are taken. `blocked`: this caller is not wanted. `closed`: nobody answers at this time."""
LONGEST_MESSAGE_S = 180.0
"""A message in the mailbox is ended after so many seconds: nobody hears more, and somebody may never stop talking."""


@dataclass(frozen=True)
class Wait:
    """A caller waits in a queue, at first at this `position`, counted from 1. After `longest_s` a sentence ends it."""

    position: int
    longest_s: float
    waits_s: float | None = None
    """How long until a line is free; None where that is not known in advance. Only the simulated network knows it."""


@dataclass(frozen=True)
class Answering:
    """How a call that comes in is answered."""

    action: AnsweringAction
    reject_reason: RejectReason | None = None
    forward_to: str | None = None
    """The number of the other telephone, in E.164."""
    wait: Wait | None = None
    """Before the agent answers; None where it answers at once."""
