"""Callers of a SIP trunk: who calls which of our numbers is asked about while it rings, and then answered by the line
host of the same process, because the caller's line is in one of its media processes.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field

import anyio

from callwright.service.platform.wake_signal import WakeSignal
from callwright.service.telephony.carriers.called_number import caller_number, own_number
from callwright.service.telephony.carriers.sip_trunk import SipTrunk, options_of
from callwright.service.telephony.lines.media_processes import CallerIngress, MediaProcess
from callwright.service.telephony.media.caller_messages import Incoming, RefuseCaller, TakeCallers

log = logging.getLogger(__name__)
_MOST_UNHEARD = 64
"""Callers of whom the media process has told and nobody has heard yet; more are refused by the process in time."""
_RECEIVED_WITHIN_S = 15.0
"""Seconds that the decision about a caller may take. The caller hears it ring for five of them at most."""
_KEPT_S = 60.0
"""Seconds in which the line host takes the leg of a caller; then its driver gives it up."""


@dataclass(frozen=True)
class SipCaller:
    """Somebody who calls one of our numbers."""

    to: str
    """In E.164."""
    from_: str = field(repr=False)
    """In E.164; empty if it is withheld."""
    provider_call_id: str
    """The SIP Call-ID."""
    has_line: bool = True
    """Whether this process has a line for them. Without one they are refused, which is recorded."""


Receive = Callable[[SipCaller], Awaitable[str | None]]
"""Decides about a caller: the id of the call that is to be answered, whose leg waits then; None if it is refused."""


@dataclass(frozen=True)
class WaitingCaller:
    """A caller who hears it ring, in a media process."""

    process: MediaProcess
    handle: str

    async def refuse(self) -> None:
        """Gives them the busy tone, unless they have gone."""
        await self.process.send(RefuseCaller(handle=self.handle))


class SipCallers:
    """The callers of one process. `woken` tells its line host that a leg may be new, `has_room` is whether that host
    takes one more."""

    def __init__(
        self,
        trunk: SipTrunk,
        numbers: Sequence[str],
        receive: Receive,
        *,
        has_room: Callable[[], bool],
        woken: WakeSignal,
    ) -> None:
        self._trunk, self._numbers, self._receive = trunk, numbers, receive
        self._has_room, self._woken = has_room, woken
        self._waiting: dict[str, WaitingCaller] = {}
        """By the call to be answered."""
        self._unheard: deque[tuple[WaitingCaller, Incoming]] = deque()
        self._news = anyio.Event()

    @property
    def ingress(self) -> CallerIngress:
        """What lets them in."""
        return CallerIngress(TakeCallers(carrier_options=options_of(self._trunk)), self._comes)

    def call_ids(self) -> Collection[str]:
        """The calls whose callers wait here: no other process can answer them."""
        return list(self._waiting)

    def take(self, call_id: str) -> WaitingCaller | None:
        """The caller of a call that is answered now."""
        return self._waiting.pop(call_id, None)

    async def run(self) -> None:
        """Decides about callers until it is cancelled."""
        async with anyio.create_task_group() as tasks:
            while True:
                while self._unheard:
                    tasks.start_soon(self._decide, *self._unheard.popleft())
                self._news = anyio.Event()
                await self._news.wait()

    def _comes(self, process: MediaProcess, incoming: Incoming) -> None:
        if len(self._unheard) >= _MOST_UNHEARD:
            log.warning("too many callers come at once: one is refused")
            return
        self._unheard.append((WaitingCaller(process, incoming.handle), incoming))
        self._news.set()

    async def _decide(self, caller: WaitingCaller, incoming: Incoming) -> None:
        to = own_number(incoming.called, self._numbers, account=self._trunk.user)
        if to is None:
            log.warning("a caller is refused: the trunk called none of its numbers")
            await caller.refuse()
            return
        if not (has_line := self._has_room()):
            log.warning("a caller is refused: all lines of this process are taken")
        from_ = caller_number(incoming.caller, incoming.called, to)
        call_id: str | None = None
        try:
            with anyio.move_on_after(_RECEIVED_WITHIN_S):
                call_id = await self._receive(SipCaller(to, from_, incoming.provider_call_id, has_line))
        except Exception:
            log.exception("deciding about a caller failed")
        if call_id is None:
            await caller.refuse()
            return
        self._waiting[call_id] = caller
        self._woken.notify()
        await anyio.sleep(_KEPT_S)
        self._waiting.pop(call_id, None)
