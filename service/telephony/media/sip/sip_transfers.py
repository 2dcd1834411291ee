"""Transfers over SIP. A cold one is a REFER (RFC 3515). In a warm one the person is called over the same trunk, hears
what it is about, and takes the place of the agent (REFER with Replaces, RFC 3891); where the trunk does not do that,
the two calls are joined in this process.
"""

# The library's listeners have no types.
# pyright: reportUnknownMemberType=false

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Protocol

import anyio
from baresip import BaresipError, TransferFailed

from callwright.contract.transfers import TransferCause
from callwright.service.telephony.engine import HangupCause
from callwright.service.telephony.media.arrival import WaitingStages
from callwright.service.telephony.media.other_side import Gone, OtherSide
from callwright.service.telephony.media.sip.causes import refused
from callwright.service.telephony.media.sip.line import Line
from callwright.service.telephony.media.transfers.means import NotTransferred, PersonVoice, Wanted

_DIALS_WITHIN_S = 5.0
_KEY_WITHIN_S = 10.0
_MOST_ASKS = 2
"""How often the person is asked for the key."""
_UNDONE_WITHIN_S = 3.0
_CAUSES: Mapping[HangupCause, TransferCause] = {
    "user_busy": "busy",
    "no_answer": "no_answer",
    "call_rejected": "rejected",
    "unallocated_number": "unreachable",
    "network_error": "unreachable",
}
"""What a call that was not answered means for a transfer; every other cause is the carrier's."""


class PersonsCall(Protocol):
    """A call to a person that is placed once."""

    def place(self, before_s: float) -> None:
        """Places it now."""
        ...

    async def wait(self, ring_timeout_s: float, reached: WaitingStages) -> Line | Gone:
        """Waits for the answer."""
        ...

    async def leave(self, cause: HangupCause) -> None:
        """Hangs up, or cancels."""
        ...


class _Ear:
    """Takes what comes from a person who hears the summary: the keys."""

    def __init__(self) -> None:
        self.pressed, self._news = "", anyio.Event()

    async def sound(self, pcm: bytes) -> None:
        """Nobody listens yet."""

    async def typed(self, text: str) -> None:
        """A telephone types nothing."""

    def holds(self) -> None:
        """It may hold."""

    async def keys(self, digits: str) -> None:
        """Keys were pressed."""
        self.pressed += digits
        self._news.set()

    async def wait_for(self, key: str) -> None:
        """Returns when the key was pressed."""
        while key not in self.pressed:
            await self._news.wait()
            self._news = anyio.Event()


class SipTransfers:
    """The transfers of one call, whose other side is on `line`. `call` makes a call to a number over the same trunk,
    `address_of` gives the address of a number there, `reports_s` is how long the trunk has to say what came of it."""

    calls_persons = True

    def __init__(
        self,
        line: Line,
        call: Callable[[str], PersonsCall],
        address_of: Callable[[str], str],
        voice: PersonVoice,
        *,
        reports_s: float,
    ) -> None:
        self._reports_s = reports_s
        self._line, self._call, self._address_of, self._voice = line, call, address_of, voice
        self._person: PersonsCall | None = None

    async def transfer(self, wanted: Wanted, answered: Callable[[], None]) -> OtherSide | None:
        """Transfers the call.

        Raises:
            NotTransferred: the person has not taken over.
        """
        if wanted.kind == "cold":
            await self._move(wanted)
            return None
        async with self._called(wanted) as person:
            answered()
            await self._told(person, wanted)
            return None if await self._replaced(person) else person

    async def _move(self, wanted: Wanted) -> None:
        """Has the trunk call the person, and waits until it says that the person has answered."""
        if self._line.call is None:
            raise NotTransferred("carrier_error")
        within_s = wanted.ring_timeout_s + self._reports_s
        self._line.is_asked_away = True
        try:
            await self._line.call.transfer(self._address_of(wanted.to), timeout=within_s)
        except TransferFailed as error:
            if not self._line.is_open:
                raise NotTransferred("hung_up", is_away=True) from None
            raise NotTransferred(_cause(refused(error.status)) if error.status else "carrier_error") from None
        except (BaresipError, ValueError):
            raise NotTransferred("carrier_error") from None
        finally:
            self._line.is_asked_away = False

    @asynccontextmanager
    async def _called(self, wanted: Wanted) -> AsyncGenerator[Line]:
        """The person's side once it has answered. It is hung up if the block fails."""
        self._person = self._call(wanted.to)
        try:
            self._person.place(time.monotonic() + _DIALS_WITHIN_S)
            line = await self._person.wait(wanted.ring_timeout_s, _untold)
            if isinstance(line, Gone):
                raise NotTransferred(_cause(line))
            yield line
        except BaseException:
            await self.close()
            raise

    async def _told(self, person: Line, wanted: Wanted) -> None:
        """Says the summary, and waits for the key if one has to be pressed."""
        ear = _Ear()
        async with anyio.create_task_group() as tasks:

            async def follow() -> None:
                await person.run(ear)
                tasks.cancel_scope.cancel()  # the person has hung up

            tasks.start_soon(follow)
            async with self._voice.speaking_to(person) as say:
                for _ in range(_MOST_ASKS):
                    await say(wanted.summary, wanted.language)
                    if wanted.confirm_key is None or await _pressed(ear, wanted.confirm_key):
                        break
            tasks.cancel_scope.cancel()
        if not person.is_open:
            raise NotTransferred("hung_up")
        if wanted.confirm_key and wanted.confirm_key not in ear.pressed:
            raise NotTransferred("no_answer")

    async def _replaced(self, person: Line) -> bool:
        """Has the person take the agent's place at the trunk; false if the two are to be joined here.

        Raises:
            NotTransferred: the person has hung up meanwhile.
        """
        mine, theirs = self._line.call, person.call
        assert mine is not None
        assert theirs is not None
        self._line.is_asked_away = True
        try:
            await mine.attended_transfer(theirs, timeout=self._reports_s)
            return True
        except (BaresipError, ValueError):
            with anyio.move_on_after(_UNDONE_WITHIN_S):
                for call in (mine, theirs):
                    with suppress(BaresipError):
                        await call.resume()
        finally:
            self._line.is_asked_away = False
        if not person.is_open:
            raise NotTransferred("hung_up")
        return False

    async def close(self) -> None:
        """Hangs the person's call up, or cancels it: who answers after that is alone in no call."""
        person, self._person = self._person, None
        if person is not None:
            with anyio.move_on_after(_UNDONE_WITHIN_S, shield=True):
                await person.leave("normal_clearing")


async def _pressed(ear: _Ear, key: str) -> bool:
    with anyio.move_on_after(_KEY_WITHIN_S):
        await ear.wait_for(key)
    return key in ear.pressed


def _untold(provider_call_id: str | None, *, rings: bool) -> None:
    """What happens before the person answers is the transfer's alone."""


def _cause(gone: Gone) -> TransferCause:
    return _CAUSES.get(gone.cause, "carrier_error")
