"""The ingress of a media process: a SIP trunk brings callers there.

Each caller hears it ring while the host is told of them. It begins their call, or refuses them; if it does neither in
time, this process refuses them. Who does not come from the trunk gets the busy tone, and the host hears nothing of it:
a port that is open to the network is found by strangers within hours.
"""

import asyncio
import ipaddress
import logging
import socket
import time
from collections import OrderedDict
from collections.abc import Callable

from pydantic import BaseModel

from callwright.service.telephony.carriers.sip_trunk import SipTrunk
from callwright.service.telephony.media.caller_messages import CALLER_WAITS_S, CallersTaken, Incoming
from callwright.service.telephony.media.sip.invites import Invite
from callwright.service.telephony.media.sip.line import Line
from callwright.service.telephony.media.sip.stack import SipStack

log = logging.getLogger(__name__)
AGAIN_S = 30.0
"""Seconds until a registration that failed is tried again."""
_RECORD_S = 1.0
"""The stack's record of messages comes a moment after its events."""
_MOST_WAITING = 32
"""Callers who are neither answered nor refused; more get the busy tone."""
_MOST_INVITES = 200
_RESOLVED_FOR_S = 60.0
"""Seconds after which the trunk's name is looked up again."""
_MOST_TOLD = 20
"""Addresses of strangers that are logged, each once."""


class Callers:
    """Those who call over a trunk, until the host has decided about each."""

    def __init__(self, stack: SipStack, trunk: SipTrunk, tell: Callable[[BaseModel], None]) -> None:
        self._stack, self._trunk, self._tell = stack, trunk, tell
        self._waiting: dict[str, Line] = {}
        """By handle."""
        self._invites: OrderedDict[str, Invite] = OrderedDict()
        """By SIP Call-ID, of callers of whom the event has not been seen yet."""
        self._news = asyncio.Event()
        self._addresses: frozenset[str] = frozenset()
        self._resolved_s = float("-inf")
        self._strangers: set[str] = set()

    async def run(self) -> None:
        """Lets callers in. A registration that fails is tried again until it succeeds."""
        told: str | None = None
        while True:
            problem = await self._stack.take_callers(self._trunk, self._rings, self._invited) or ""
            if problem != told:
                told = problem
                self._tell(CallersTaken(problem=problem))
            if not problem or self._trunk.listens_at is not None:
                return
            await asyncio.sleep(AGAIN_S)

    def take(self, handle: str) -> Line | None:
        """The caller whose call begins now; None if they have gone or were refused."""
        return self._waiting.pop(handle, None)

    def refuse(self, handle: str) -> None:
        """Gives a caller the busy tone, unless they have gone."""
        line = self._waiting.pop(handle, None)
        if line is not None:
            self._stack.begin(self._stack.leave(line))

    def _rings(self, line: Line) -> None:
        if len(self._waiting) >= _MOST_WAITING or line.call is None:
            self._stack.begin(self._stack.leave(line))
            return
        handle = str(line.call.handle)
        self._waiting[handle] = line
        self._stack.begin(self._wait(handle, line))

    def _invited(self, invite: Invite) -> None:
        self._invites[invite.sip_call_id] = invite
        while len(self._invites) > _MOST_INVITES:
            self._invites.popitem(last=False)
        self._news.set()

    async def _wait(self, handle: str, line: Line) -> None:
        """Tells the host of a caller, and refuses them if it does not decide in time."""
        invite = await self._invite_of(line)
        if invite is None or not await self._is_of_trunk(invite.source):
            self.refuse(handle)
            return
        if handle not in self._waiting:
            return
        self._tell(
            Incoming(
                handle=handle,
                called=invite.called,
                caller=invite.caller,
                provider_call_id=invite.sip_call_id,
            )
        )
        await asyncio.sleep(CALLER_WAITS_S)
        self.refuse(handle)

    async def _invite_of(self, line: Line) -> Invite | None:
        until_s = time.monotonic() + _RECORD_S
        while (found := self._invites.pop(line.sip_call_id or "", None)) is None:
            self._news.clear()
            try:
                async with asyncio.timeout(until_s - time.monotonic()):
                    await self._news.wait()
            except TimeoutError:
                return None
        return found

    async def _is_of_trunk(self, source: str) -> bool:
        """Whether an address is one that the trunk's callers come from."""
        if self._trunk.inbound_from:
            there = ipaddress.ip_address(source)
            known = any(there in ipaddress.ip_network(network) for network in self._trunk.inbound_from)
        else:
            known = source in await self._trunk_addresses(source)
        if not known and source not in self._strangers and len(self._strangers) < _MOST_TOLD:
            self._strangers.add(source)
            log.warning("a caller from %s was refused: it is no address of the SIP trunk", source)
        return known

    async def _trunk_addresses(self, wanted: str) -> frozenset[str]:
        """The addresses of the trunk's host, looked up again if `wanted` is none of them and that is some time ago."""
        if wanted not in self._addresses and time.monotonic() - self._resolved_s > _RESOLVED_FOR_S:
            self._resolved_s = time.monotonic()
            try:
                host = self._trunk.host.strip("[]")
                found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_DGRAM)
                self._addresses = frozenset(str(address[0]) for *_, address in found)
            except OSError as error:
                log.warning("the name of the SIP trunk could not be looked up: %s", type(error).__name__)
        return self._addresses
