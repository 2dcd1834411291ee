"""How the other side comes to a call: the page of a websocket, or a telephone that is called."""

from typing import Protocol

from callwright.service.telephony.engine import HangupCause
from callwright.service.telephony.media.other_side import Gone, OtherSide
from callwright.service.telephony.media.transfers.means import PersonVoice, TransferMeans


class WaitingStages(Protocol):
    """Is told what happens before the answer."""

    def __call__(self, provider_call_id: str | None, *, rings: bool) -> None:
        """The carrier has the call, and `rings` if the telephone rings."""
        ...


class Arrival(Protocol):
    """How the other side comes to a call."""

    async def prepare(self) -> Gone | None:
        """Makes ready for it. Returns why it cannot come."""
        ...

    def place(self, before_s: float) -> None:
        """The host says that the call is to be placed now, and not after this moment of `time.monotonic`."""
        ...

    async def wait(self, ring_timeout_s: float, reached: WaitingStages) -> OtherSide | Gone:
        """Waits until the other side is there."""
        ...

    def transfers(self, voice: PersonVoice) -> TransferMeans | None:
        """What transfers the call, once the other side is there; None if this line cannot be transferred. `voice`
        speaks to the person."""
        ...

    async def leave(self, cause: HangupCause) -> None:
        """Ends the call for the other side, or its coming. Takes a few seconds at most."""
        ...
