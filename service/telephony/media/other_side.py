"""The other side of a call as the call sees it, whatever brings its sound: a websocket or a telephone line."""

from dataclasses import dataclass
from typing import Protocol

from callwright.service.telephony.engine import EndedBy, HangupCause


@dataclass(frozen=True)
class Gone:
    """Why the other side is no longer there, or never came."""

    cause: HangupCause
    ended_by: EndedBy
    warning: str | None = None
    sip_status: int | None = None
    was_sent: bool = True
    """False: the request that places the call certainly did not leave."""


class Ear(Protocol):
    """What a call does with what the other side sends."""

    async def sound(self, pcm: bytes) -> None:
        """Sound of the other side."""
        ...

    async def keys(self, digits: str) -> None:
        """Keys of the telephone."""
        ...

    async def typed(self, text: str) -> None:
        """A turn that was typed."""
        ...

    def holds(self) -> None:
        """The other side has put the call on hold; said again and again while it does."""
        ...


class OtherSide(Protocol):
    """The other side of a call that is answered."""

    @property
    def is_open(self) -> bool:
        """Whether anything can be sent."""
        ...

    @property
    def provider_call_id(self) -> str | None:
        """The call's name on the line, if it has one."""
        ...

    def send_sound(self, pcm: bytes) -> bool:
        """Sends sound of 20 ms; False if the other side is gone or does not read."""
        ...

    def send(self, kind: str, **content: object) -> bool:
        """Shows something, where there is a page; False if it is gone."""
        ...

    def drop_unsent_sound(self) -> None:
        """Drops sound that was not sent yet."""
        ...

    async def press(self, digits: str) -> bool:
        """Presses keys and returns when they were sent; False if only tones in the sound can do that."""
        ...

    async def run(self, ear: Ear) -> Gone:
        """Hands on what the other side sends until it is gone. Returns why."""
        ...


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

    async def leave(self, cause: HangupCause) -> None:
        """Ends the call for the other side, or its coming. Takes a few seconds at most."""
        ...
