"""How a line is transferred, as the call sees it: by the carrier of the host, or over SIP by this process."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from callwright.contract.transfers import TransferCause, TransferKind
from callwright.service.telephony.media.other_side import OtherSide


class NotTransferred(Exception):
    """The person has not taken over. The line is as it was before, if the other side is still there."""

    def __init__(self, cause: TransferCause, *, is_away: bool = False) -> None:
        super().__init__(cause)
        self.cause: TransferCause = cause
        self.is_away = is_away
        """The contact was given away, and is not back: the agent can say nothing to it."""


@dataclass(frozen=True)
class Wanted:
    """A transfer that is to be made."""

    kind: TransferKind
    to: str
    summary: str
    """What the person hears first, in a warm transfer."""
    language: str
    ring_timeout_s: float
    confirm_key: str | None = None
    sorry: str = ""
    """What the contact hears, if nobody takes over and the agent cannot say so any more."""


class PersonVoice(Protocol):
    """Speaks to a person who is to take a call over, with the agent's voice."""

    def speaking_to(self, person: OtherSide) -> AbstractAsyncContextManager["Saying"]:
        """Speaks to this side within the block."""
        ...


class Saying(Protocol):
    """Says a sentence to a person."""

    async def __call__(self, text: str, language: str) -> None:
        """Returns when it was said."""
        ...


class TransferMeans(Protocol):
    """What transfers one call."""

    calls_persons: bool
    """Whether it calls people from this process, so that only this process knows how long they are on the line."""

    async def transfer(self, wanted: Wanted, answered: Callable[[], None]) -> OtherSide | None:
        """Transfers the call. `answered` is called when the person has answered and hears the summary.

        Returns None once the call is with the person and no more on this line, or the person's side if the two are to
        be joined here. What was begun is undone when it is cancelled.

        Raises:
            NotTransferred: the person has not taken over.
        """
        ...

    async def close(self) -> None:
        """Ends what is left of the person's side. Takes a few seconds at most."""
        ...
