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
