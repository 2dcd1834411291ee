"""A call that is placed over SIP: from the host's word to dial until it is answered, refused or given up."""

import asyncio
import time
from contextlib import suppress
from dataclasses import replace

from baresip import BaresipError, CommandTimeout

from callwright.service.telephony.carriers.sip_trunk import SipTrunk
from callwright.service.telephony.engine import CallRequest, HangupCause
from callwright.service.telephony.media.arrival import WaitingStages
from callwright.service.telephony.media.other_side import Gone
from callwright.service.telephony.media.sip.line import Line
from callwright.service.telephony.media.sip.sip_transfers import SipTransfers
from callwright.service.telephony.media.sip.stack import SipStack
from callwright.service.telephony.media.transfers.means import PersonVoice

_RECORD_S = 0.2
"""The stack's record of messages comes a moment after its events."""


class OutgoingCall:
    """One INVITE, and what becomes of it. It is sent once, after `place`, and never again."""

    def __init__(self, stack: SipStack, trunk: SipTrunk, request: CallRequest, *, reports_s: float) -> None:
        """`reports_s`: see `Limits`."""
        self._stack, self._trunk, self._request, self._reports_s = stack, trunk, request, reports_s
        self._before_s: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._dialled: asyncio.Task[Line] | None = None
        """Goes on when the call is given up meanwhile: what was dialled must be hung up."""
        self._line: Line | None = None

    async def prepare(self) -> Gone | None:
        """Starts the stack and registers, if that is still to be done."""
        return await self._stack.prepare(self._trunk, self._request.from_)

    def place(self, before_s: float) -> None:
        """The host says that the call is to be placed now."""
        if not self._before_s.done():
            self._before_s.set_result(before_s)

    async def wait(self, ring_timeout_s: float, reached: WaitingStages) -> Line | Gone:
        """Sends the INVITE when the host says so, and waits for an answer. Early media is none."""
        before_s = await self._before_s
        if time.monotonic() >= before_s:
            return Gone("platform_error", "platform", "The call was to be placed too late.", was_sent=False)
        try:
            dialled = self._stack.dial(self._trunk, self._request.to, self._request.from_)
            self._dialled = asyncio.ensure_future(dialled)
            line = await asyncio.shield(self._dialled)
        except CommandTimeout:
            return Gone("platform_error", "platform", "The SIP stack does not answer.")
        except (BaresipError, ValueError) as error:
            warning = f"The SIP stack cannot call: {type(error).__name__}."
            return Gone("platform_error", "platform", warning, was_sent=False)
        try:
            async with asyncio.timeout(ring_timeout_s):
                answered = await self._answer(line, reached)
        except TimeoutError:
            return Gone("no_answer", "platform")
        if isinstance(answered, Line):
            self._line = answered
        return answered

    async def _answer(self, line: Line, reached: WaitingStages) -> Line | Gone:
        told = 0
        while True:
            if line.closed is not None and not line.is_answered:
                await asyncio.sleep(_RECORD_S)
                return line.ended()
            stage = line.is_heard + line.rings
            if stage > told:
                told = stage
                reached(line.sip_call_id, rings=line.rings)
            if line.is_answered:
                return line
            await line.news()

    def transfers(self, voice: PersonVoice) -> SipTransfers | None:
        """What transfers the call, once it is answered."""
        if self._line is None:
            return None

        def call(to: str) -> OutgoingCall:
            return OutgoingCall(self._stack, self._trunk, replace(self._request, to=to), reports_s=self._reports_s)

        return SipTransfers(self._line, call, self._trunk.address_of, voice, reports_s=self._reports_s)

    async def leave(self, cause: HangupCause) -> None:
        """Ends the call with BYE or CANCEL, unless it has ended."""
        if self._dialled is not None:
            with suppress(BaresipError, ValueError):
                await self._stack.leave(await self._dialled)
