"""A call that came in over SIP: from the host's word to answer until the caller is there, or has gone."""

import asyncio
import time
from dataclasses import replace

from baresip import BaresipError

from callwright.service.telephony.carriers.sip_trunk import SipTrunk
from callwright.service.telephony.engine import CallRequest, HangupCause
from callwright.service.telephony.media.arrival import WaitingStages
from callwright.service.telephony.media.other_side import Gone
from callwright.service.telephony.media.sip.line import Line
from callwright.service.telephony.media.sip.outgoing import OutgoingCall
from callwright.service.telephony.media.sip.sip_transfers import SipTransfers
from callwright.service.telephony.media.sip.stack import SipStack
from callwright.service.telephony.media.transfers.means import PersonVoice

_CONFIRMED_WITHIN_S = 10.0
"""Seconds in which the trunk must acknowledge the answer."""


class IncomingCall:
    """A caller on `line`, who hears it ring until the host says that the call is to be answered."""

    def __init__(
        self, stack: SipStack, trunk: SipTrunk, request: CallRequest, line: Line | None, *, reports_s: float
    ) -> None:
        """`line` is None for a caller who has gone; `reports_s`: see `Limits`."""
        self._stack, self._trunk, self._request, self._reports_s = stack, trunk, request, reports_s
        self._line = line
        self._before_s: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._can_call = False

    async def prepare(self) -> Gone | None:
        """Makes ready for calls to persons who take the call over; without that it goes on, and they cannot."""
        if self._line is None:
            return Gone("contact_hangup", "contact")
        self._can_call = await self._stack.prepare(self._trunk, self._request.to) is None
        return None if self._line.is_open else self._line.ended()

    def place(self, before_s: float) -> None:
        """The host says that the call is to be answered now."""
        if not self._before_s.done():
            self._before_s.set_result(before_s)

    async def wait(self, ring_timeout_s: float, reached: WaitingStages) -> Line | Gone:
        """Answers when the host says so, and waits until the trunk has taken the answer."""
        assert self._line is not None
        line = self._line
        if line.call is None or time.monotonic() >= await self._before_s:
            return Gone("platform_error", "platform", "The call was to be answered too late.")
        if not line.is_open:
            return line.ended()
        reached(line.sip_call_id, rings=True)
        try:
            async with asyncio.timeout(_CONFIRMED_WITHIN_S):
                await line.call.answer()
                while not line.is_answered and line.is_open:
                    await line.news()
        except (BaresipError, TimeoutError):
            if line.is_open:
                return Gone("network_error", "carrier", "The SIP trunk did not take the answer to a caller.")
        return line if line.is_answered and line.is_open else line.ended()

    def transfers(self, voice: PersonVoice) -> SipTransfers | None:
        """What transfers the call, once it is answered. Persons see the number that was called."""
        if self._line is None or not self._can_call:
            return None

        def call(to: str) -> OutgoingCall:
            request = replace(self._request, to=to, from_=self._request.to, answering=None)
            return OutgoingCall(self._stack, self._trunk, request, reports_s=self._reports_s)

        return SipTransfers(self._line, call, self._trunk.address_of, voice, reports_s=self._reports_s)

    async def leave(self, cause: HangupCause) -> None:
        """Ends the call with BYE, or the busy tone where it is not answered."""
        if self._line is not None:
            await self._stack.leave(self._line)
