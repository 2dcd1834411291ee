"""The other end of a call's websocket: it speaks in real time, and keeps what it hears."""

import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

FRAME = 640
"""Bytes of 20 ms."""
Message = dict[str, Any]


class Caller:
    """A page with a microphone."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.sound = bytearray()
        """What the agent said, without the silence between."""
        self.messages: list[Message] = []
        self.close_code: int | None = None
        self._speech = bytearray()
        self._muted = False
        self._news = anyio.Condition()

    async def say(self, pcm: bytes) -> None:
        """Says something, and returns when it was said."""
        self._speech += pcm + bytes(-len(pcm) % FRAME)
        with anyio.fail_after(60):
            async with self._news:
                while self._speech:
                    await self._news.wait()

    def mute(self) -> None:
        """Sends no sound from now on, not even silence."""
        self._muted = True

    async def send(self, **message: object) -> None:
        await self.connection.send(json.dumps(message))

    async def wait_for(self, test: Callable[[Message], bool], within_s: float = 40.0) -> Message:
        """The first text message that passes."""
        with anyio.fail_after(within_s):
            async with self._news:
                while True:
                    for message in self.messages:
                        if test(message):
                            return message
                    assert self.close_code is None, f"closed before: {self.messages}"
                    await self._news.wait()

    async def heard(self, seconds: float, *, more: bool = False, within_s: float = 40.0) -> None:
        """Waits until the agent has spoken for so long, or for so long from now on."""
        enough = seconds * 32_000 + (len(self.sound) if more else 0)
        with anyio.fail_after(within_s):
            async with self._news:
                while len(self.sound) < enough:
                    assert self.close_code is None, "closed before"
                    await self._news.wait()

    async def closed(self, within_s: float = 40.0) -> int | None:
        """Waits until the connection is closed, and returns its code."""
        with anyio.fail_after(within_s):
            async with self._news:
                while self.close_code is None:
                    await self._news.wait()
        return self.close_code

    def of(self, kind: str) -> list[Message]:
        """The messages of a type."""
        return [message for message in self.messages if message["type"] == kind]

    async def _changed(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def listen(self) -> None:
        try:
            async for message in self.connection:
                if isinstance(message, bytes):
                    self.sound += message
                else:
                    self.messages.append(json.loads(message))
                await self._changed()
        except ConnectionClosed:
            pass
        self.close_code = self.connection.close_code or 1006
        await self._changed()

    async def speak(self) -> None:
        due = time.monotonic()
        try:
            while True:
                if not self._muted:
                    frame = bytes(self._speech[:FRAME]) or bytes(FRAME)
                    await self.connection.send(frame)
                    if self._speech:
                        del self._speech[:FRAME]
                        if not self._speech:
                            await self._changed()
                due += 0.02
                await anyio.sleep(max(0.0, due - time.monotonic()))
        except ConnectionClosed:
            return


@asynccontextmanager
async def caller(port: int, token: str, *, muted: bool = False) -> AsyncGenerator[Caller]:
    """Opens the websocket of a call."""
    address = f"ws://127.0.0.1:{port}/media/{token}"
    async with connect(address, compression=None, max_size=None, open_timeout=10, close_timeout=2) as connection:
        page = Caller(connection)
        if muted:
            page.mute()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(page.listen)
            tasks.start_soon(page.speak)
            try:
                yield page
            finally:
                tasks.cancel_scope.cancel()
