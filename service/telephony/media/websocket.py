"""The process's own listener: one websocket for each call, from the browser or from the host's proxy.

Sound goes both ways as signed 16-bit little-endian samples, 16 kHz mono, in binary messages of 20 ms. Text messages are
JSON. To the page: `clear` (what waits for the speaker is dropped), `caption`, `latency`, `ended`. From the page:
`keys`, `text` and `hang_up`.
"""

import asyncio
import contextlib
import hmac
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Protocol
from uuid import UUID

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from callwright.service.telephony.engine import HangupCause
from callwright.service.telephony.media.arrival import WaitingStages
from callwright.service.telephony.media.other_side import Ear, Gone, OtherSide
from callwright.service.telephony.media.sound.sound_clock import FRAME_BYTES, seconds_of
from callwright.service.telephony.media.transfers.means import PersonVoice

LONGEST_TEXT = 1_000
"""Characters of a typed turn."""
_PATH = re.compile(r"/media/([!-~]{1,512})")
_LARGEST_MESSAGE = 16_384
_LONGEST_SOUND = 25 * FRAME_BYTES
"""Half a second in one message."""
_MOST_AHEAD_S = 5.0
"""Sound that comes faster than it can have been said, by more than this, is a flood."""
_TEXTS_PER_S, _MOST_TEXTS_AT_ONCE = 5.0, 40.0
_MOST_UNSENT = 250
_SEND_S = 10.0
_CLOSE_S = 2.0
_DIGITS = re.compile(r"[0-9*#]{1,32}")
_NORMAL_CLOSES = (1000, 1001, 1005)
_REFUSED, _TOO_MUCH, _LEFT = 1008, 1013, 1000


class _Fault(Exception):
    """A page sent what it must not send. The sentence says what."""


class Page:
    """The other end of a call's websocket."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._unsent: asyncio.Queue[bytes | str] = asyncio.Queue(_MOST_UNSENT)
        self._closing = False
        self._opened = time.monotonic()
        self._sound_s = 0.0
        self._texts = _MOST_TEXTS_AT_ONCE
        self._last_text = self._opened

    @property
    def is_open(self) -> bool:
        """Whether anything can be sent."""
        return not self._closing

    @property
    def provider_call_id(self) -> str | None:
        """A websocket has no name of its own."""
        return None

    async def press(self, digits: str) -> bool:
        """A page has no line that carries keys: they are sent as tones."""
        return False

    def send_sound(self, pcm: bytes) -> bool:
        """Sends sound; False if the page is gone or does not read."""
        return self._send(pcm)

    def send(self, kind: str, **content: object) -> bool:
        """Sends a text message; False if the page is gone or does not read."""
        return self._send(json.dumps({"type": kind} | content))

    def _send(self, message: bytes | str) -> bool:
        if self._closing:
            return False
        try:
            self._unsent.put_nowait(message)
        except asyncio.QueueFull:
            return False
        return True

    def drop_unsent_sound(self) -> None:
        """Drops sound that was not sent yet. Text messages stay."""
        kept: list[str] = []
        while not self._unsent.empty():
            message = self._unsent.get_nowait()
            if isinstance(message, str):
                kept.append(message)
        for message in kept:
            self._unsent.put_nowait(message)

    async def run(self, ear: Ear) -> Gone:
        """Hands on what the page sends until it is gone. Returns why."""
        sender = asyncio.create_task(self._send_all())
        receiver = asyncio.create_task(self._receive_all(ear))
        try:
            done, _ = await asyncio.wait((sender, receiver), return_when=asyncio.FIRST_COMPLETED)
            return receiver.result() if receiver in done else sender.result()
        finally:
            self._closing = True
            for task in (sender, receiver):
                task.cancel()
            await asyncio.gather(sender, receiver, return_exceptions=True)

    async def _receive_all(self, ear: Ear) -> Gone:
        try:
            async for message in self._connection:
                if isinstance(message, str):
                    if await self._text(message, ear):
                        return Gone("contact_hangup", "contact")
                else:
                    self._check_sound(message)
                    await ear.sound(message)
        except _Fault as fault:
            await self.close(_REFUSED)
            return Gone("network_error", "carrier", str(fault))
        except ConnectionClosed:
            pass
        if self._connection.close_code in _NORMAL_CLOSES:
            return Gone("contact_hangup", "contact")
        return Gone("network_error", "carrier")

    def _check_sound(self, pcm: bytes) -> None:
        if not 0 < len(pcm) <= _LONGEST_SOUND or len(pcm) % 2:
            raise _Fault("The page sent sound of a wrong size.")
        self._sound_s += seconds_of(pcm)
        if self._sound_s > time.monotonic() - self._opened + _MOST_AHEAD_S:
            raise _Fault("The page sent more sound than time has passed.")

    async def _text(self, message: str, ear: Ear) -> bool:
        """Hands on a text message. Returns whether it ends the call."""
        now = time.monotonic()
        self._texts = min(self._texts + (now - self._last_text) * _TEXTS_PER_S, _MOST_TEXTS_AT_ONCE) - 1
        self._last_text = now
        if self._texts < 0:
            raise _Fault("The page sent too many messages.")
        try:
            content: Any = json.loads(message)
        except (ValueError, RecursionError):
            content = None
        match content:
            case {"type": "hang_up"}:
                return True
            case {"type": "keys", "digits": str(digits)} if _DIGITS.fullmatch(digits):
                await ear.keys(digits)
            case {"type": "text", "text": str(text)} if 0 < len(text.strip()) <= LONGEST_TEXT:
                await ear.typed(text.strip())
            case _:
                raise _Fault("The page sent a message that is none of a call.")
        return False

    async def _send_all(self) -> Gone:
        try:
            while True:
                await asyncio.wait_for(self._connection.send(await self._unsent.get()), _SEND_S)
        except (ConnectionClosed, TimeoutError):
            # The receiver says why the connection closed, if it did.
            await asyncio.sleep(_CLOSE_S)
            return Gone("network_error", "carrier", "The page stopped reading.")

    async def finish(self, cause: str) -> None:
        """Tells the page that the call is over, and closes the connection. Waits four seconds at most."""
        self._closing = True
        with contextlib.suppress(ConnectionClosed, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                while not self._unsent.empty():
                    await self._connection.send(self._unsent.get_nowait())
                await self._connection.send(json.dumps({"type": "ended", "cause": cause}))
        await self.close(_LEFT)

    async def close(self, code: int) -> None:
        """Closes the connection, within two seconds."""
        self._closing = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await self._connection.close(code)


class Joined(OtherSide, Protocol):
    """The other side of a call that has come over a websocket."""

    async def finish(self, cause: str) -> None:
        """Says that the call is over, and closes the connection. Takes some seconds at most."""
        ...

    async def close(self, code: int) -> None:
        """Closes the connection, within two seconds."""
        ...


Opens = Callable[[ServerConnection], Awaitable[Joined | None]]
"""Makes the other side of a connection; None if it is none, and the connection is closed."""


async def as_page(connection: ServerConnection) -> Joined:
    """A page is there as soon as it is connected."""
    return Page(connection)


class Awaited:
    """A call that waits for its page, and then keeps the connection until it is over."""

    def __init__(self, forget: Callable[["Awaited"], None], opens: Opens, longer_s: float) -> None:
        """`forget` makes its token invalid, `opens` makes the other side of a connection. It is waited for `longer_s`
        after the longest ringing."""
        self._forget, self._opens, self._longer_s = forget, opens, longer_s
        self._page: asyncio.Future[Joined] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()

    async def prepare(self) -> Gone | None:
        """Nothing: the page may come."""
        return None

    def place(self, before_s: float) -> None:
        """Nothing: a page comes by itself."""

    async def wait(self, ring_timeout_s: float, reached: WaitingStages) -> Joined | Gone:
        """The page; without one the call was not answered."""
        try:
            async with asyncio.timeout(ring_timeout_s + self._longer_s):
                return await self._page
        except TimeoutError:
            return Gone("no_answer", "platform")

    def transfers(self, voice: PersonVoice) -> None:
        """Nothing: a websocket cannot be moved to a telephone from here."""

    async def leave(self, cause: HangupCause) -> None:
        """Tells the page that the call is over, and makes the token invalid."""
        try:
            if self._page.done() and not self._page.cancelled():
                await self._page.result().finish(cause)
        finally:
            self._over.set()
            self._forget(self)

    async def serve(self, connection: ServerConnection) -> None:
        """Gives the other side of a connection to the call, and returns when the call is over."""
        page = await self._opens(connection)
        if page is None:
            return
        if self._over.is_set() or self._page.done():
            await page.close(_TOO_MUCH)
            return
        self._page.set_result(page)
        await self._over.wait()


class Listener:
    """Listens on 127.0.0.1. A connection needs the token of a call that waits, and uses it up."""

    def __init__(self) -> None:
        self._waiting: dict[bytes, Awaited] = {}
        self._admitted: dict[UUID, Awaited] = {}
        """Between the check of the token and the opened connection."""
        self._server: Server | None = None

    async def start(self) -> int:
        """Begins to listen, and returns the port."""
        logging.getLogger("websockets").setLevel(logging.CRITICAL)  # it would log addresses, which hold tokens
        self._server = await serve(
            self._handle,
            "127.0.0.1",
            0,
            process_request=self._admit,
            compression=None,
            max_size=_LARGEST_MESSAGE,
            max_queue=16,
            open_timeout=5,
            ping_interval=5,
            ping_timeout=10,
            close_timeout=_CLOSE_S,
            server_header=None,
        )
        return int(next(iter(self._server.sockets)).getsockname()[1])

    def expect(self, token: str, opens: Opens = as_page, *, longer_s: float = 0.0) -> Awaited:
        """A connection with this token is the call's. Raises ValueError if another call waits with it."""
        key = token.encode()
        if key in self._waiting:
            raise ValueError("two calls cannot have the same token")
        self._waiting[key] = awaited = Awaited(self._forget, opens, longer_s)
        return awaited

    def _forget(self, awaited: Awaited) -> None:
        self._waiting = {token: one for token, one in self._waiting.items() if one is not awaited}
        self._admitted = {key: one for key, one in self._admitted.items() if one is not awaited}

    async def stop(self) -> None:
        """Closes the listener and every connection."""
        if self._server is not None:
            self._server.close(code=1001)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2 * _CLOSE_S):
                    await self._server.wait_closed()

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        path = _PATH.fullmatch(request.path)
        given = path[1].encode() if path else b""
        found: bytes | None = None
        for token in self._waiting:  # every one is compared, in the same time whatever was given
            if hmac.compare_digest(token, given):
                found = token
        if found is None:
            return connection.respond(HTTPStatus.UNAUTHORIZED, "The token of this call is unknown or used up.\n")
        self._admitted[connection.id] = self._waiting.pop(found)
        return None

    async def _handle(self, connection: ServerConnection) -> None:
        awaited = self._admitted.pop(connection.id, None)  # None: the call was over meanwhile
        if awaited is not None:
            await awaited.serve(connection)
