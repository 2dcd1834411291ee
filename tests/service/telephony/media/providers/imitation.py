"""What the imitations of providers have in common: a websocket on the loopback interface, and ways to misbehave."""

import asyncio
import json
import math
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import WSMessage, WSMsgType, web

RATE = 16_000
HUGE = 1_048_576
"""Bytes of sound in one message of the fault `huge`."""
Fault = Literal["refuses", "moved", "hangs", "goes", "mute", "garbage", "error", "huge"]
"""It refuses the key, redirects, never completes the handshake, goes away in the middle, accepts everything and answers
nothing, answers nonsense, answers with its message of an error, or answers with very much sound."""
Message = dict[str, Any]

WRONG_KEY, GONE = 401, 1011


@dataclass
class Imitation:
    """A provider. It keeps how it was connected to, what it was told, and what it would bill."""

    key: str
    fault: Fault | None = None
    url: str = ""
    asked: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])
    """The query of each connection."""
    told: list[Message] = field(default_factory=list[Message])
    """The JSON messages that it got."""
    billed: float = 0.0
    """Seconds of sound that were heard, or characters that were spoken."""
    followed: list[str] = field(default_factory=list[str])
    """How the place was asked that its redirects lead to."""
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    """It was asked for something, and misbehaved if it is to."""
    _let_go: asyncio.Event = field(default_factory=asyncio.Event)

    path = "/"

    def key_of(self, request: web.Request) -> str | None:
        """The key that a request carries."""
        raise NotImplementedError

    async def talk(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        """Serves a connection until it is closed."""
        raise NotImplementedError

    async def connected(self, request: web.Request) -> web.StreamResponse:
        """A connection is opened."""
        self.asked.append(dict(request.query))
        if self.fault == "hangs":
            self.reached.set()
            await self._let_go.wait()
        if self.fault == "moved":
            self.reached.set()
            return web.Response(status=302, headers={"Location": "/inside"})
        if self.fault == "refuses" or self.key_of(request) != self.key:
            self.reached.set()
            return web.json_response({"err_code": "INVALID_AUTH", "err_msg": "Invalid credentials."}, status=WRONG_KEY)
        socket = web.WebSocketResponse(max_msg_size=1 << 24)
        await socket.prepare(request)
        await self.talk(socket, request)
        return socket

    async def inside(self, request: web.Request) -> web.StreamResponse:
        """The place that redirects lead to."""
        self.followed.append(request.method)
        return web.Response()

    async def misbehaves(self, socket: web.WebSocketResponse, error: Message) -> bool:
        """Does what the fault is instead of answering. False: there is none that can be done now."""
        match self.fault:
            case "goes":
                await socket.close(code=GONE, message=b"try again later")
            case "garbage":
                await socket.send_bytes(b"\x00\xff\xfe")
                await socket.send_str("{no json")
            case "error":
                await socket.send_json(error)
                if "context_id" not in error:  # it concerns the connection
                    await socket.close(code=GONE)
            case "mute":
                pass
            case _:
                return False
        self.reached.set()
        return True

    def let_go(self) -> None:
        """Ends what hangs."""
        self._let_go.set()


def json_of(message: WSMessage) -> Message:
    """The JSON object of a text message; empty for another one."""
    return json.loads(message.data) if message.type == WSMsgType.TEXT else {}


def sound_of(text: str, known: Mapping[str, bytes]) -> bytes:
    """How a text sounds, as 16-bit samples of `RATE`: known sentences, or a tone that is as long as its words."""
    text, rest = text.strip(), text.strip()
    said = b""
    while rest:
        sentence = next((each for each in known if rest.startswith(each)), None)
        if sentence is None:
            return said + _tone(len(rest) * 0.06)
        said, rest = said + known[sentence], rest[len(sentence) :].lstrip()
    return said


def _tone(seconds: float) -> bytes:
    samples = (int(3_000 * math.sin(2 * math.pi * 300 * at / RATE)) for at in range(int(seconds * RATE)))
    return b"".join(sample.to_bytes(2, "little", signed=True) for sample in samples)


@asynccontextmanager
async def served(provider: Imitation) -> AsyncGenerator[None]:
    """Serves the provider on the loopback interface."""
    app = web.Application()
    app.router.add_get(provider.path, provider.connected)
    app.router.add_route("*", "/inside", provider.inside)
    runner = web.AppRunner(app, shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    provider.url = f"ws://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield
    finally:
        provider.let_go()
        await runner.cleanup()
