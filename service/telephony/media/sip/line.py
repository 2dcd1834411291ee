"""One telephone call of the SIP stack: what has happened to it, and its sound."""

# The library's listeners have no types.
# pyright: reportUnknownMemberType=false

import asyncio
from contextlib import suppress

from baresip import AudioNotActive, AudioRestarted, BaresipError, Call, Event, StackEvent

from callwright.service.telephony.media.other_side import Ear, Gone
from callwright.service.telephony.media.sip.causes import not_connected, refused, status_of
from callwright.service.telephony.media.sip.messages_seen import Seen
from callwright.service.telephony.media.sound.resampling import Doubled, Halved
from callwright.service.telephony.media.sound.sound_clock import FRAME_BYTES

_TICK_S = 0.02
_MOST_READ = 16_000
"""Bytes: one second at 8 kHz."""
_HANG_UP_S = 2.0
_BYE = "Connection reset by peer"
"""What the stack says when the other side hangs up."""
_TRANSFERRED = "Call transfered"
"""What it says when the other side reports that it talks to somebody else by now."""


class Line:
    """A call from its INVITE to its end, whoever has sent it. It is the other side of the call once it is answered."""

    def __init__(self) -> None:
        self.call: Call | None = None
        self.sip_call_id: str | None = None
        self.has_left = self.is_heard = self.rings = self.is_answered = False
        """Whether the INVITE left, anything came back, the telephone rings, and somebody has answered."""
        self.came_in = False
        """Whether the other side has called; else it is called."""
        self.closed: str | None = None
        """Why the call is over for us."""
        self._is_gone = False
        """The stack has the call no more."""
        self._last_status: int | None = None
        self._held = False
        self.is_asked_away = False
        """Whether the other side was asked to talk to somebody else: it may send no sound meanwhile."""
        self._news = asyncio.Event()
        self._keys: asyncio.Queue[str] = asyncio.Queue()
        self._halved, self._doubled = Halved(), Doubled()
        self._heard = b""

    # -- what happens -------------------------------------------------------------------------------------------------

    def happened(self, event: StackEvent) -> None:
        """Takes an event of the call."""
        self.sip_call_id = self.sip_call_id or event.call_id
        match event.event:
            case Event.CALL_RINGING | Event.CALL_PROGRESS:  # sound before the answer is no answer
                self.is_heard = self.rings = True
            case Event.CALL_ESTABLISHED:
                self.is_heard = self.is_answered = True
            case Event.CALL_CLOSED:
                self._is_gone = True
                self.closed = self.closed or event.text or "closed"
            case Event.CALL_HOLD:
                self._held = True
            case Event.CALL_RESUME:
                self._held = False
            case Event.CALL_DTMF_START if event.text:
                self._keys.put_nowait(event.text)
            case Event.CALL_REDIRECT:
                # Nobody has asked whether the other number may be called.
                self.closed = self.closed or "302 Redirected"
            case _:
                return
        self._news.set()

    def came(self, call: Call) -> None:
        """The other side calls, and hears it ring."""
        self.call, self.sip_call_id = call, call.call_id
        self.came_in = self.is_heard = self.rings = True

    def saw(self, seen: Seen) -> None:
        """Takes what a message shows."""
        if seen.status is None:
            self.has_left = True
        else:
            self.is_heard = True
            if seen.status >= 300:
                self._last_status = seen.status
        self._news.set()

    async def news(self) -> None:
        """Returns when something has happened since the last time."""
        await self._news.wait()
        self._news.clear()

    def ended(self) -> Gone:
        """Why the call is over."""
        text = self.closed or ""
        if self.is_answered:
            if text == _TRANSFERRED:
                return Gone("transfer_completed", "agent")
            if _BYE in text:
                return Gone("contact_hangup", "contact")
            return Gone("network_error", "carrier")
        if self.came_in:
            return Gone("contact_hangup", "contact")
        status = status_of(text) or self._last_status
        if status is not None:
            return refused(status)
        return not_connected(text, has_left=self.has_left or self.is_heard)

    @property
    def can_be_hung_up(self) -> bool:
        """Whether the trunk has answered anything, or the call has ended."""
        return self.is_heard or self._is_gone

    async def hang_up(self) -> None:
        """Sends BYE or CANCEL, and waits until the stack has it, two seconds at most."""
        if self.call is None or self._is_gone:
            return
        with suppress(BaresipError, TimeoutError):
            async with asyncio.timeout(_HANG_UP_S):
                await self.call.hangup()
                while not self._is_gone:
                    await self.news()

    # -- the other side of an answered call ---------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether the call goes on."""
        return self.closed is None

    @property
    def provider_call_id(self) -> str | None:
        """The SIP Call-ID."""
        return self.sip_call_id

    def send_sound(self, pcm: bytes) -> bool:
        """Sends sound. It is lost while the other side has put the call on hold."""
        if self.call is None or not self.is_open:
            return False
        with suppress(AudioNotActive, AudioRestarted):
            self.call.audio.write(self._halved.add(pcm).astype("<i2").tobytes())
        return True

    def send(self, kind: str, **content: object) -> bool:
        """Nothing: a telephone shows no text."""
        return self.is_open

    def drop_unsent_sound(self) -> None:
        """Drops sound that was not sent yet."""
        if self.call is not None:
            with suppress(AudioNotActive, AudioRestarted):
                self.call.audio.flush_tx()

    async def press(self, digits: str) -> bool:
        """Presses keys: as events in the sound's packets, or as INFO where the other side has no such events."""
        if self.call is None:
            return False
        with suppress(BaresipError):
            await self.call.send_dtmf(digits)
        return True

    async def run(self, ear: Ear) -> Gone:
        """Hands on sound and keys until the call is over. What was said before the answer is left out."""
        self._read()
        keys = asyncio.create_task(self._hand_on_keys(ear))
        try:
            while self.is_open:
                await asyncio.sleep(_TICK_S)
                if self._held or self.is_asked_away:
                    ear.holds()
                self._heard += self._doubled.add(self._read())
                while len(self._heard) >= FRAME_BYTES:
                    frame, self._heard = self._heard[:FRAME_BYTES], self._heard[FRAME_BYTES:]
                    await ear.sound(frame)
                if keys.done():
                    keys.result()
        finally:
            keys.cancel()
        return self.ended()

    async def _hand_on_keys(self, ear: Ear) -> None:
        while True:
            await ear.keys(await self._keys.get())

    def _read(self) -> bytes:
        """What has come since the last time."""
        assert self.call is not None
        with suppress(AudioNotActive, AudioRestarted):
            return self.call.audio.read(_MOST_READ)
        return b""
