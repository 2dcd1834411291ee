"""The interface of a carrier: what places calls on lines, as the line hosts see it.

A carrier may ring a person for each request that it gets. It is asked once for each leg, and never again.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, Protocol

import anyio

from callwright.service.telephony.engine import CallRequest, CallResult, EarlyEnd
from callwright.service.telephony.legs.leg_rows import LegStage
from callwright.service.telephony.transfers import CallTransfer


class Refused(Exception):
    """The carrier refused the call: it did not ring, and will not. The text has no number in it."""

    def __init__(self, why: str, result: CallResult) -> None:
        super().__init__(why)
        self.result = result


class NotSent(Exception):
    """The request never left, for example because no connection was made: the call did not ring, and will not."""


class Unknown(Exception):
    """The request was sent, and its answer is missing or means nothing: the call may ring."""


Keep = Callable[[CallResult], Awaitable[None]]
"""Called whenever something was said, with what would be the result of the call if its process ended now."""


async def _not_kept(_: CallResult) -> None:
    """Nothing is kept."""


ToldTransfer = Callable[[CallTransfer], Awaitable[None]]
"""Called whenever a transfer of the call has reached a stage."""


async def _transfer_not_told(_: CallTransfer) -> None:
    """Nobody is told."""


class QueuePlace:
    """The place of a caller who waits for a line: None for who does not wait, 0 once it is their turn."""

    def __init__(self) -> None:
        self.place: int | None = None
        self._changed = anyio.Event()

    def move(self, place: int | None) -> None:
        """The caller is there now."""
        if place != self.place:
            self.place = place
            self._changed.set()
            self._changed = anyio.Event()

    async def changed(self) -> None:
        """Returns when the caller has moved."""
        await self._changed.wait()


@dataclass(frozen=True)
class LegRequest:
    """A leg to place. Equal legs have equal `call.call_id`."""

    call: CallRequest
    place_before_s: float
    """Seconds of `anyio.current_time` after which the request must not be sent any more."""
    keep: Keep = _not_kept
    token: str = field(default="", repr=False)
    """Opens the leg to its carrier, in every address that the carrier is given."""
    transferred: ToldTransfer = _transfer_not_told
    provider_call_id: str | None = None
    """The carrier's id of a call that comes in. To place its leg is to answer it."""
    queue: QueuePlace = field(default_factory=QueuePlace)

    def check_in_time(self) -> None:
        """To be called right before the request is sent.

        Raises:
            NotSent: it is too late, because the process was frozen or busy.
        """
        if anyio.current_time() >= self.place_before_s:
            raise NotSent("the request was late, and was not sent")


@dataclass(frozen=True)
class Found:
    """What a carrier shows of a leg. `several`: calls from and to these numbers, one of which may be the leg."""

    what: Literal["none", "one", "several"]
    provider_call_id: str | None = None


@dataclass(frozen=True)
class Charge:
    """What a carrier says that it charged for a call: an amount that is not negative, in this currency (ISO 4217)."""

    item: Literal["telephony"]
    amount: Decimal
    currency: str


ToldStage = Callable[[LegStage, str | None], Awaitable[None]]
"""Called with a stage that a call has reached, and with the carrier's id of the call if it is known."""


class Carrier(Protocol):
    """Places calls on lines. A method may be called for many legs at once."""

    name: str
    lists_calls: bool
    """Whether `find` can see calls that were placed."""
    unheard_ends: bool
    """Whether a call of which this host has heard nothing is over once its ringing is: nobody takes its answer, so that
    it cannot go on. Over SIP an answer that is not acknowledged ends within 32 s (RFC 3261, 13.3.1.4)."""

    async def place(self, leg: LegRequest) -> str | None:
        """Sends the request that places a leg, at most once, and returns the carrier's id of the call.

        Raises:
            Refused: the carrier does not make the call.
            NotSent: the request did not leave.
            Unknown: it is not known whether the carrier makes the call.
        """
        ...

    async def ended(
        self, leg: LegRequest, provider_call_id: str | None, told: ToldStage, hang_up: "HangUpAsked"
    ) -> CallResult:
        """Follows a leg that was placed, and returns its result once it is over. It tells the stages that it reaches,
        and has what was said kept.

        When `hang_up` is asked, it hangs the call up.
        """
        ...

    async def find(self, call: CallRequest, *, placing_ms: int) -> Found:
        """Looks for a leg among the carrier's calls. Only called if `lists_calls`."""
        ...

    async def hang_up(self, provider_call_id: str) -> None:
        """Ends a call whose host is gone."""
        ...

    async def charge_of(self, provider_call_id: str) -> Charge | None:
        """What it charged for a call that is over; None if that is not known yet. Only asked of carriers whose engine
        is registered as one that tells charges; others never know. It may raise, and is asked again later."""
        ...


class HangUpAsked:
    """Whether a call is to be hung up, and why."""

    def __init__(self) -> None:
        self._asked = anyio.Event()
        self._end = EarlyEnd()

    @property
    def end(self) -> EarlyEnd:
        """Why."""
        return self._end

    def ask(self, end: EarlyEnd) -> None:
        """Asks for it, once."""
        if not self._asked.is_set():
            self._end = end
            self._asked.set()

    @property
    def is_asked(self) -> bool:
        """Whether it was asked for."""
        return self._asked.is_set()

    async def wait(self) -> None:
        """Returns when it is asked for."""
        await self._asked.wait()
