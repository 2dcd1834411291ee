"""The other side of a call whose sound Twilio brings over a websocket (Twilio, "Media Streams": messages).

Both sides send JSON. Sound is G.711 mu-law of 8 kHz in base64. Twilio plays what it is sent from a buffer: `clear`
empties it when the agent is interrupted, and a `mark` comes back when everything before it was played.
"""

import asyncio
import contextlib
import json
import time
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from typing import Any

import numpy as np
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from callwright.service.speech.mu_law_files import linear_of
from callwright.service.telephony.media.other_side import Ear, Gone
from callwright.service.telephony.media.sound.recorder import mu_law
from callwright.service.telephony.media.sound.resampling import TELEPHONE_RATE, Doubled, Halved
from callwright.service.telephony.media.sound.sound_clock import FRAME_BYTES

_STARTS_WITHIN_S = 10.0
_LONGEST_SOUND = TELEPHONE_RATE
"""Bytes of one message: a second."""
_MOST_AHEAD_S = 5.0
"""Sound that comes faster than it can have been said, by more than this, is a flood."""
_MOST_FAULTS = 50
"""Messages that cannot be read, in one call: each is dropped, and one more ends the call."""
_MOST_UNSENT = 250
_SEND_S = 10.0
_PLAYED_WITHIN_S = 1.0
_CLOSE_S = 2.0
_LEFT, _REFUSED = 1000, 1008
_LAST = "last"
_KEYS = frozenset("0123456789*#ABCD")


class _Fault(Exception):
    """Something came that Twilio does not send. The sentence says what. A flood ends the call at once."""

    def __init__(self, sentence: str, *, is_flood: bool = False) -> None:
        super().__init__(sentence)
        self.is_flood = is_flood


class MediaStream:
    """A stream that Twilio has started. It is made by `started`."""

    def __init__(self, connection: ServerConnection, stream_sid: str, call_sid: str) -> None:
        self._connection, self._stream_sid, self._call_sid = connection, stream_sid, call_sid
        self._unsent: asyncio.Queue[str] = asyncio.Queue(_MOST_UNSENT)
        self._closing = False
        self._opened = time.monotonic()
        self._heard = self._faults = 0
        self._halved, self._doubled, self._pending = Halved(), Doubled(), b""
        self._played = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether anything can be sent."""
        return not self._closing

    @property
    def provider_call_id(self) -> str | None:
        """The sid of the call."""
        return self._call_sid

    def send_sound(self, pcm: bytes) -> bool:
        """Sends sound; False if the stream is gone or does not read."""
        payload = b64encode(mu_law(self._halved.add(pcm))).decode()
        return self._send("media", media={"payload": payload})

    def send(self, kind: str, **content: object) -> bool:
        """Has Twilio drop what it has not played yet, if that is asked. A telephone shows no text."""
        return self._send("clear") if kind == "clear" else self.is_open

    def drop_unsent_sound(self) -> None:
        """Drops sound that was not sent yet."""
        while not self._unsent.empty():
            self._unsent.get_nowait()

    async def press(self, digits: str) -> bool:
        """Twilio takes no keys over a stream: they are sent as tones."""
        return False

    def _send(self, event: str, **content: object) -> bool:
        if self._closing:
            return False
        try:
            self._unsent.put_nowait(json.dumps({"event": event, "streamSid": self._stream_sid} | content))
        except asyncio.QueueFull:
            return False
        return True

    async def run(self, ear: Ear) -> Gone:
        """Hands on what comes until the stream is over. Returns why."""
        sender = asyncio.create_task(self._send_all())
        receiver = asyncio.create_task(self._receive_all(ear))
        try:
            done, _ = await asyncio.wait((sender, receiver), return_when=asyncio.FIRST_COMPLETED)
            return receiver.result() if receiver in done else sender.result()
        finally:
            for task in (sender, receiver):
                task.cancel()
            await asyncio.gather(sender, receiver, return_exceptions=True)

    async def _receive_all(self, ear: Ear) -> Gone:
        try:
            async for message in self._connection:
                try:
                    if await self._take(_read(message), ear):
                        return Gone("contact_hangup", "contact")
                except _Fault as fault:
                    self._faults += 1
                    if fault.is_flood or self._faults > _MOST_FAULTS:
                        return Gone("network_error", "carrier", str(fault))
        except ConnectionClosed:
            pass
        return Gone("network_error", "carrier", "The sound of the call from Twilio broke off.")

    async def _take(self, message: dict[str, Any], ear: Ear) -> bool:
        """Takes a message. Returns whether the stream is over. Kinds that are not known mean nothing."""
        match message:
            case {"event": "media", "media": {"payload": str(payload)} as media}:
                if media.get("track", "inbound") == "inbound":
                    await self._hear(payload, ear)
            case {"event": "dtmf", "dtmf": {"digit": str(digit)}} if digit in _KEYS:
                await ear.keys(digit)
            case {"event": "mark", "mark": {"name": str(name)}} if name == _LAST:
                self._played.set()
            case {"event": "stop"}:
                self._closing = True
                return True
            case {"event": "media" | "dtmf"}:
                raise _Fault("Twilio sent a message without its content.")
            case _:
                pass
        return False

    async def _hear(self, payload: str, ear: Ear) -> None:
        try:
            codes = b64decode(payload, validate=True)
        except (NotBase64, ValueError):
            raise _Fault("Twilio sent sound that cannot be read.") from None
        self._heard += len(codes)
        passed_s = time.monotonic() - self._opened
        if len(codes) > _LONGEST_SOUND or self._heard / TELEPHONE_RATE > passed_s + _MOST_AHEAD_S:
            raise _Fault("Twilio sent more sound than time has passed.", is_flood=True)
        self._pending += self._doubled.add(_SAMPLES[np.frombuffer(codes, np.uint8)].tobytes())
        while len(self._pending) >= FRAME_BYTES:
            frame, self._pending = self._pending[:FRAME_BYTES], self._pending[FRAME_BYTES:]
            await ear.sound(frame)

    async def _send_all(self) -> Gone:
        try:
            while True:
                await asyncio.wait_for(self._connection.send(await self._unsent.get()), _SEND_S)
        except (ConnectionClosed, TimeoutError):
            # The receiver says why the connection closed, if it did.
            await asyncio.sleep(_CLOSE_S)
            return Gone("network_error", "carrier", "Twilio stopped taking the sound of the call.")

    async def finish(self, cause: str) -> None:
        """Waits until what was sent is played, a second at most, and closes the stream: Twilio then hangs up."""
        with contextlib.suppress(ConnectionClosed, TimeoutError, _Fault):
            if not self._closing:
                self._send("mark", mark={"name": _LAST})
                async with asyncio.timeout(_PLAYED_WITHIN_S):
                    while not self._unsent.empty():
                        await self._connection.send(self._unsent.get_nowait())
                    await self._until_played()
        await self.close(_LEFT)

    async def _until_played(self) -> None:
        async for message in self._connection:
            match _read(message):
                case {"event": "mark", "mark": {"name": str(name)}} if name == _LAST:
                    return
                case {"event": "stop"}:
                    return
                case _:
                    pass

    async def close(self, code: int) -> None:
        """Closes the connection, within two seconds."""
        self._closing = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await self._connection.close(code)


async def started(connection: ServerConnection) -> MediaStream | None:
    """The stream of a connection once Twilio has started it; None, and the connection is closed, if it does not."""
    try:
        async with asyncio.timeout(_STARTS_WITHIN_S):
            async for message in connection:
                match _read(message):
                    case {"event": "start", "start": {"streamSid": str(stream), "callSid": str(call)} as start}:
                        if _is_telephone_sound(start):
                            return MediaStream(connection, stream, call)
                        break
                    case {"event": "stop"}:
                        break
                    case _:
                        pass
    except (ConnectionClosed, TimeoutError, _Fault):
        pass
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_CLOSE_S):
            await connection.close(_REFUSED)
    return None


def _is_telephone_sound(start: dict[str, Any]) -> bool:
    match start.get("mediaFormat"):
        case {"encoding": "audio/x-mulaw", "sampleRate": rate, "channels": channels}:
            return (str(rate), str(channels)) == (str(TELEPHONE_RATE), "1")
        case _:
            return False


def _read(message: str | bytes) -> dict[str, Any]:
    try:
        content: Any = json.loads(message)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise _Fault("Twilio sent a message that is no JSON object.")
    return content  # pyright: ignore[reportUnknownVariableType]  # its values are looked at one by one


_SAMPLES = np.array([linear_of(code) for code in range(256)], "<i2")
