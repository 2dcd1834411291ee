"""A telephone that Twilio rings: what it does, and what is said and heard over its media stream."""

import json
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
import numpy as np
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from callwright.service.speech.mu_law_files import linear_of

_FRAME = 160
_SILENCE = b"\xff" * _FRAME
_SAMPLES = np.array([linear_of(code) for code in range(256)], "<i2")
_CODES = {int(sample): code for code, sample in enumerate(_SAMPLES)}
_LEVELS = np.array(sorted(_CODES), np.int32)


def codes_of(pcm: bytes) -> bytes:
    """Sound of 16 kHz as mu-law of 8 kHz."""
    samples = np.frombuffer(pcm, "<i2").astype(np.int32)
    half = (samples[0:-1:2] + samples[1::2]) // 2
    at = np.clip(np.searchsorted(_LEVELS, half), 0, len(_LEVELS) - 1)
    return bytes(_CODES[int(level)] for level in _LEVELS[at])


def pcm_of(codes: bytes) -> bytes:
    """Mu-law as 16-bit samples."""
    return _SAMPLES[np.frombuffer(codes, np.uint8)].tobytes()


@dataclass
class Telephone:
    """What a telephone does: it `answers`, or is `busy`, `no-answer` or `failed` with
    `sip_status`. `answered_by` is what Twilio's detection of machines says, if it is asked for."""

    does: str = "answers"
    sip_status: int | None = None
    answered_by: str | None = None
    rings_s: float = 0.05
    opens_media: bool = True
    keys: list[str] = field(default_factory=list[str])
    """Pressed when Twilio asks for a key, one each time; an empty one is none."""
    told_s: float = 0.2
    """How long Twilio's own voice speaks each time."""
    was_told: list[str] = field(default_factory=list[str])
    """What Twilio's own voice said."""
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Everything that came over the stream, but for sound."""
    sound: bytearray = field(default_factory=bytearray)
    """The sound that was played to it, as mu-law, without the silence between."""
    is_connected: anyio.Event = field(default_factory=anyio.Event)
    is_over: anyio.Event = field(default_factory=anyio.Event)
    _speech: bytearray = field(default_factory=bytearray)
    _connection: ClientConnection | None = None
    _stream: str = ""
    _sequence: int = 0
    _understood: int = 0
    _played_at: float = 0.0
    _news: anyio.Condition = field(default_factory=anyio.Condition)
    hangs_up: anyio.Event = field(default_factory=anyio.Event)

    async def say(self, pcm: bytes) -> None:
        """Says sound of 16 kHz, and returns when it was said."""
        codes = codes_of(pcm)
        self._speech += codes + b"\xff" * (-len(codes) % _FRAME)
        with anyio.fail_after(60):
            async with self._news:
                while self._speech:
                    await self._news.wait()

    async def press(self, digits: str) -> None:
        """Presses keys."""
        for digit in digits:
            await self.send("dtmf", dtmf={"track": "inbound_track", "digit": digit})

    async def stop_stream(self) -> None:
        """The stream ends, and the call goes on: it was given other instructions."""
        if self._connection is not None:
            with suppress(ConnectionClosed):
                await self.send("stop", stop={"accountSid": "", "callSid": ""})
                await self._connection.close()

    def hang_up(self) -> None:
        """Ends the call."""
        self.hangs_up.set()

    async def hears(self, known: Any, text: str, within_s: float = 40.0) -> None:
        """Waits until a sentence was heard to its end, after the one before."""
        from tests.service.telephony.media.closed_set import resampled

        with anyio.fail_after(within_s):
            while True:
                new = bytes(self.sound[self._understood :])
                is_over = len(new) > 4_000 and time.monotonic() > self._played_at + 0.5
                if is_over and known.recognise(resampled(pcm_of(new), 8_000)) == text:
                    self._understood += len(new)
                    return
                await anyio.sleep(0.1)

    async def hears_at_last(self, known: Any, text: str, within_s: float = 40.0) -> None:
        """Waits until a sentence was heard, whatever came before."""
        from tests.service.telephony.media.closed_set import resampled

        with anyio.fail_after(within_s):
            while True:
                await self.comes_to_rest(0.5)
                new = bytes(self.sound[self._understood :])
                self._understood += len(new)
                if len(new) > 4_000 and known.recognise(resampled(pcm_of(new), 8_000)) == text:
                    return

    async def comes_to_rest(self, silent_s: float = 1.5, within_s: float = 40.0) -> None:
        """Waits until something new was heard to its end, and nothing for so many seconds after it."""
        with anyio.fail_after(within_s):
            while True:
                if len(self.sound) > self._understood and time.monotonic() > self._played_at + silent_s:
                    return
                await anyio.sleep(0.1)

    async def heard(self, seconds: float, within_s: float = 40.0) -> None:
        """Waits until it was spoken to for so long."""
        with anyio.fail_after(within_s):
            async with self._news:
                while len(self.sound) < seconds * 8_000:
                    await self._news.wait()

    async def comes(self, event: str, within_s: float = 40.0) -> None:
        """Waits for a message of a kind."""
        with anyio.fail_after(within_s):
            async with self._news:
                while not self.of(event):
                    await self._news.wait()

    async def send_text(self, text: str) -> None:
        """Sends something, whatever it is."""
        assert self._connection is not None
        await self._connection.send(text)

    def of(self, event: str) -> list[dict[str, Any]]:
        """The messages of a kind that came."""
        return [message for message in self.messages if message["event"] == event]

    async def send(self, event: str, **content: object) -> None:
        """Sends a message of the stream."""
        assert self._connection is not None
        self._sequence += 1
        given = {"event": event, "sequenceNumber": str(self._sequence), "streamSid": self._stream} | content
        await self._connection.send(json.dumps(given))

    async def drop(self) -> None:
        """Breaks the connection off."""
        assert self._connection is not None
        self._connection.transport.abort()

    async def talk(self, connection: ClientConnection, ids: Mapping[str, str]) -> None:
        """The stream from its begin to its end: until somebody hangs up, or the other side closes it."""
        self._connection, self._stream = connection, ids["streamSid"]
        await connection.send(json.dumps({"event": "connected", "protocol": "Call", "version": "1.0.0"}))
        form = {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1}
        start = {**ids, "tracks": ["inbound"], "mediaFormat": form, "customParameters": {}}
        await self.send("start", start=start)
        self.is_connected.set()
        async with anyio.create_task_group() as tasks:

            async def until_hung_up() -> None:
                await self.hangs_up.wait()
                with suppress(ConnectionClosed):
                    await self.send("stop", stop={"accountSid": ids["accountSid"], "callSid": ids["callSid"]})
                    await connection.close()

            async def speak() -> None:
                with suppress(ConnectionClosed):
                    await self._speak()

            tasks.start_soon(until_hung_up)
            tasks.start_soon(speak)
            with suppress(ConnectionClosed):
                async for message in connection:
                    await self._take(json.loads(message))
            tasks.cancel_scope.cancel()

    async def _speak(self) -> None:
        due, chunk = time.monotonic(), 0
        while True:
            codes = bytes(self._speech[:_FRAME]) or _SILENCE
            chunk += 1
            payload = b64encode(codes).decode()
            media = {"track": "inbound", "chunk": str(chunk), "timestamp": str(chunk * 20), "payload": payload}
            await self.send("media", media=media)
            if self._speech:
                del self._speech[:_FRAME]
                if not self._speech:
                    async with self._news:
                        self._news.notify_all()
            due += 0.02
            await anyio.sleep(max(0.0, due - time.monotonic()))

    async def _take(self, message: dict[str, Any]) -> None:
        assert message["streamSid"] == self._stream, message
        if message["event"] == "media":
            codes = b64decode(message["media"]["payload"], validate=True)
            self.sound += codes
            self._played_at = max(self._played_at, time.monotonic()) + len(codes) / 8_000
            async with self._news:
                self._news.notify_all()
            return
        self.messages.append(message)
        async with self._news:
            self._news.notify_all()
        if message["event"] == "clear":
            self._played_at = time.monotonic()
        elif message["event"] == "mark":
            await anyio.sleep(max(0.0, self._played_at - time.monotonic()))
            with suppress(ConnectionClosed):
                await self.send("mark", mark=message["mark"])
