"""The SIP stack of a media process: started with its first call or to take callers, one for all trunks of the process.

What happens to calls comes as events. They are taken by a listener of our own that is there before anything is dialled:
the library's waiting for an answer misses one that comes while the event loop is busy.
"""

# The library's listeners have no types.
# pyright: reportUnknownMemberType=false

import asyncio
import ssl
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from baresip import Account, BaresipError, Call, Config, Event, RegistrationError, Runtime, StackEvent, UserAgent

from callwright.service.telephony.carriers.sip_trunk import SipTrunk
from callwright.service.telephony.media.other_side import Gone
from callwright.service.telephony.media.sip.invites import Invite
from callwright.service.telephony.media.sip.line import Line
from callwright.service.telephony.media.sip.messages_seen import Seen, follow_messages

T = TypeVar("T")
_REGISTERS_WITHIN_S = 4.0
_ANSWERS_WITHIN_S = 40.0
"""An INVITE that nothing has answered by then is over: the stack gives it up after 32 seconds."""
_NO_SOUND_S = 60
"""Without any packet for this long the stack itself ends a call, if nothing else has."""
_SRTP = {"off": (), "offered": ("mediaenc=srtp",), "required": ("mediaenc=srtp-mand",)}
_CODECS = ("pcmu", "pcma")
_CALLERS = "callwright"
"""The user of a trunk that callers come from and that has none of its own."""
RTP_PORTS = (10_000, 20_000)
"""The UDP ports of sound, which a firewall has to let in."""


class SipStack:
    """Dials over SIP, and takes callers if it is told to. `died` is called if the stack's thread ends by itself;
    nothing works any more then."""

    def __init__(self, *, died: Callable[[], None]) -> None:
        self._died = died
        self._starting = asyncio.Lock()
        self._runtime: Runtime | None = None
        self._secured: tuple[bool, str, bool] | None = None
        self._agents: dict[tuple[SipTrunk, str], UserAgent] = {}
        self._lines: dict[int, Line] = {}
        self._ingress: UserAgent | None = None
        self._rings: Callable[[Line], None] | None = None
        self._invited: Callable[[Invite], None] | None = None
        self._beside: set[asyncio.Task[None]] = set()

    async def prepare(self, trunk: SipTrunk, number: str) -> Gone | None:
        """Makes ready for calls from a number. Returns why there can be none."""
        try:
            async with self._starting:
                await self._start(trunk)
                if self._key(trunk, number) not in self._agents:
                    user = number if trunk.number_is_in_from else trunk.user
                    agent = await self._agent(trunk, user, registers=trunk.registers_to_call)
                    if trunk.registers_to_call:
                        await agent.register(timeout=_REGISTERS_WITHIN_S)
                    self._agents[self._key(trunk, number)] = agent
        except RegistrationError as error:
            warning = not_registered(error.status)
            return Gone("carrier_rejected", "carrier", warning, sip_status=error.status, was_sent=False)
        except (BaresipError, ValueError) as error:
            return Gone("platform_error", "platform", f"The SIP stack has no trunk: {error}.", was_sent=False)
        return None

    async def take_callers(
        self, trunk: SipTrunk, rings: Callable[[Line], None], invited: Callable[[Invite], None]
    ) -> str | None:
        """Lets callers in, and returns why that cannot be done now. `rings` is given each of them, `invited` what
        their INVITEs say, which comes a moment later."""
        self._rings, self._invited = rings, invited
        try:
            async with self._starting:
                await self._start(trunk, listens_at=trunk.listens_at)
                registers = trunk.listens_at is None
                self._ingress = ingress = self._ingress or await self._agent(
                    trunk, trunk.user or _CALLERS, registers=registers, catches_all=True
                )
                if registers:
                    await ingress.register(timeout=_REGISTERS_WITHIN_S)
        except RegistrationError as error:
            return not_registered(error.status)
        except (BaresipError, ValueError) as error:
            return f"The SIP stack cannot take callers: {error}."
        return None

    async def dial(self, trunk: SipTrunk, to: str, number: str) -> Line:
        """Sends the INVITE, once. Raises BaresipError if it cannot be sent."""
        agent = self._agents[self._key(trunk, number)]
        domain = trunk.from_domain or trunk.address
        call = await agent.dial(
            trunk.address_of(to),
            headers={"P-Asserted-Identity": f"<sip:{number}@{domain}>"},
        )
        line = self._line(call.handle)
        line.call = call
        return line

    async def leave(self, line: Line) -> None:
        """Hangs up, and forgets the call once it has ended.

        Before a first answer there is nothing that could be cancelled: a telephone that rings late is hung up then.
        """
        if line.can_be_hung_up:
            await line.hang_up()
            self._forget(line)
        else:
            self.begin(self._leave_later(line))

    async def _leave_later(self, line: Line) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_ANSWERS_WITHIN_S):
                while not line.can_be_hung_up:
                    await line.news()
        await line.hang_up()
        self._forget(line)

    def _forget(self, line: Line) -> None:
        if line.call is not None:
            self._lines.pop(line.call.handle, None)

    async def close(self) -> None:
        """Ends what is left, and the stack."""
        for task in self._beside:
            task.cancel()
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            with suppress(BaresipError):
                await runtime.close()

    async def _start(self, trunk: SipTrunk, *, listens_at: str | None = None) -> None:
        secured = (trunk.verify, trunk.ca_file, trunk.is_on_this_machine)
        if self._runtime is not None:
            if listens_at is not None and self._ingress is None:
                raise ValueError("it has begun without a port for them")
            if secured != self._secured:
                raise ValueError("a process can have trunks of one network and with the same certificates only")
            return
        runtime = Runtime()
        runtime.on_dead = self._died
        loop = asyncio.get_running_loop()
        follow_messages(
            lambda seen: _in(loop, self._saw, seen),
            lambda invite: _in(loop, self._was_invited, invite),
        )
        config = Config(
            # The stack looks for interfaces and leaves this one out unless it is named.
            net_interface="127.0.0.1" if trunk.is_on_this_machine else None,
            max_concurrent_calls=None,
            rtp_timeout=_NO_SOUND_S,
            sip_trace=True,
            extra_config_text="\n".join(_directives(trunk, listens_at)),
        )
        await runtime.start(config)
        runtime.subscribe(self._happened)
        self._runtime, self._secured = runtime, secured

    def _key(self, trunk: SipTrunk, number: str) -> tuple[SipTrunk, str]:
        return trunk, number if trunk.number_is_in_from else ""

    async def _agent(self, trunk: SipTrunk, user: str, *, registers: bool, catches_all: bool = False) -> UserAgent:
        """An account at the trunk. It `catches_all` who call something else than its user."""
        assert self._runtime is not None
        proxy = f"sip:{trunk.address};transport={trunk.transport}"
        account = Account(
            user=user,
            domain=trunk.from_domain or trunk.address,
            password=trunk.password,
            registrar=proxy if trunk.from_domain else None,
            reg_interval=600 if registers else 0,
            transport=trunk.transport,
            audio_codecs=_CODECS,
            dtmf_mode="auto",
            auth_user=trunk.auth_user or trunk.user or None,
            extra_params=(*_SRTP[trunk.srtp], *(("catchall=yes",) if catches_all else ())),
        )
        name = f'"{trunk.display}" ' if trunk.display else ""
        # Nobody may have this machine call somewhere: requests to transfer are refused.
        agent = await UserAgent.create(self._runtime, name + account.aor(), transfer_policy="reject")
        agent.on_incoming(self._came)
        return agent

    def _came(self, call: Call) -> None:
        """Somebody calls. Where nobody is expected they get the busy tone."""
        line = self._line(call.handle)
        line.came(call)
        if self._rings is None:
            self.begin(self.leave(line))
        else:
            self._rings(line)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Does something beside the calls."""
        task = asyncio.ensure_future(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    def _line(self, handle: int) -> Line:
        return self._lines.setdefault(handle, Line())

    def _happened(self, event: StackEvent) -> None:
        if event.event is Event.CALL_OUTGOING:
            self._line(event.call).happened(event)
        elif event.call in self._lines:
            self._lines[event.call].happened(event)

    def _saw(self, seen: Seen) -> None:
        for line in self._lines.values():
            if line.sip_call_id == seen.sip_call_id:
                line.saw(seen)

    def _was_invited(self, invite: Invite) -> None:
        if self._invited is not None:
            self._invited(invite)


def not_registered(status: int | None) -> str:
    """What is said of a registration that failed."""
    return f"The SIP trunk refused the registration{f' with status {status}' if status else ''}."


def _in(loop: asyncio.AbstractEventLoop, take: Callable[[T], None], found: T) -> None:
    with suppress(RuntimeError):  # the loop is closed: the process ends
        loop.call_soon_threadsafe(take, found)


def _directives(trunk: SipTrunk, listens_at: str | None) -> list[str]:
    """What the stack's configuration has no field for."""
    lines = [f"sip_verify_server {'yes' if trunk.verify else 'no'}", "rtp_ports {}-{}".format(*RTP_PORTS)]
    if listens_at is not None:
        lines.append(f"sip_listen {listens_at}")
    system = ssl.get_default_verify_paths()
    ca_file = trunk.ca_file or system.cafile or ""
    if ca_file:
        lines.append(f"sip_cafile {ca_file}")
    elif system.capath:
        lines.append(f"sip_capath {system.capath}")
    return lines
