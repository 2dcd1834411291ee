"""A local service with the interface of OpenAI: it transcribes by a closed set, and answers as it is told."""

import asyncio
import json
import wave
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from aiohttp import BodyPartReader, web

from tests.service.telephony.media.closed_set import RATE, ClosedSet, resampled

Chat = dict[str, Any]
Calls = Sequence[tuple[str, Any]]
"""Functions that the model calls, each with its arguments: what is no text is sent as JSON."""


async def _parts(request: web.Request) -> AsyncGenerator[BodyPartReader]:
    """The parts of a form. They stay in memory: a file on the disk would be left open by a client that goes."""
    reader = await request.multipart()
    while (part := await reader.next()) is not None:
        assert isinstance(part, BodyPartReader)
        yield part


@dataclass
class Endpoint:
    """What the service was asked, and what it answers. `answers` are used one after the other, the last one again."""

    known: ClosedSet
    url: str = ""
    transcribed: list[str] = field(default_factory=list[str])
    chats: list[Chat] = field(default_factory=list[Chat])
    answers: Sequence[str | Calls] = ()
    delay_s: float = 0.0
    status: int = 200
    hearing_status: int = 200
    call_id: str = "call_{number}_{index}"
    """The ids of the tools that it calls, by the number of the answer and the place in it."""
    usage: dict[str, Any] | None = None
    """What each answer says of its tokens, in a chunk without a choice, as the interface documents it."""
    heard_s: list[float] = field(default_factory=list[float])
    """How many seconds of sound each request for a transcript had."""
    spoken_texts: list[str] = field(default_factory=list[str])
    spoken: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """What it can say, as 16-bit samples of 16 kHz."""
    followed: list[str] = field(default_factory=list[str])
    """How the place was asked that its redirects lead to."""
    redirected: asyncio.Event = field(default_factory=asyncio.Event)

    async def redirect(self, request: web.Request) -> web.Response:
        """What is asked below `/moved`, by HTTP or a websocket, is sent on to `/inside`."""
        self.redirected.set()
        return web.Response(status=int(request.match_info["status"]), headers={"Location": "/inside"})

    async def inside(self, request: web.Request) -> web.Response:
        self.followed.append(request.method)
        return web.Response(body=b"\x10" * 24_000, content_type="audio/pcm")

    async def speak(self, request: web.Request) -> web.Response:
        asked = await request.json()
        pcm = self.spoken[asked["input"]]
        self.spoken_texts.append(asked["input"])
        assert asked["response_format"] == "pcm"
        return web.Response(body=resampled(pcm, RATE * 2 // 3), content_type="audio/pcm")  # read as 24 kHz it is right

    async def transcribe(self, request: web.Request) -> web.Response:
        if self.hearing_status != 200:
            return web.json_response({"error": {"message": "no"}}, status=self.hearing_status)
        parts = {part.name: bytes(await part.read()) async for part in _parts(request)}
        with wave.open(BytesIO(parts["file"])) as sound:
            assert sound.getframerate() == 16_000
            self.heard_s.append(sound.getnframes() / sound.getframerate())
            pcm = sound.readframes(sound.getnframes())
        text = await asyncio.to_thread(self.known.recognise, pcm)
        self.transcribed.append(text)
        return web.json_response({"text": text})

    async def complete(self, request: web.Request) -> web.StreamResponse:
        self.chats.append(await request.json())
        if self.status != 200:
            return web.json_response({"error": {"message": "no"}}, status=self.status)
        await asyncio.sleep(self.delay_s)
        text = self.answers[min(len(self.chats), len(self.answers)) - 1]
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        try:
            await response.prepare(request)
            for delta in self._deltas(text):
                await response.write(_event(delta, None))
            counted = b"" if self.usage is None else _data(_chunk([]) | {"usage": self.usage})
            await response.write(_event({}, "stop") + counted + b"data: [DONE]\n\n")
        except ConnectionError:
            pass  # the agent had enough
        return response

    def _deltas(self, answer: str | Calls) -> list[dict[str, Any]]:
        """The pieces of an answer: its words, or the functions that it calls."""
        if isinstance(answer, str):
            return [{"content": f"{word} "} for word in answer.split(" ")]
        return [{"tool_calls": [self._call(index, *one)]} for index, one in enumerate(answer)]

    def _call(self, index: int, name: str, arguments: Any) -> dict[str, Any]:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": name, "arguments": text}
        call_id = self.call_id.format(number=len(self.chats), index=index)
        return {"index": index, "id": call_id, "type": "function", "function": function}


def _event(delta: dict[str, Any], finish: str | None) -> bytes:
    return _data(_chunk([{"index": 0, "delta": delta, "finish_reason": finish}]))


def _chunk(choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "one", "object": "chat.completion.chunk", "created": 1, "model": "test", "choices": choices}


def _data(chunk: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


@asynccontextmanager
async def endpoint(known: ClosedSet) -> AsyncGenerator[Endpoint]:
    """Serves on the loopback interface."""
    service = Endpoint(known)
    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/v1/audio/transcriptions", service.transcribe)
    app.router.add_post("/v1/audio/speech", service.speak)
    app.router.add_post("/v1/chat/completions", service.complete)
    app.router.add_route("*", "/moved/{status}/{rest:.*}", service.redirect)
    app.router.add_route("*", "/inside", service.inside)
    runner = web.AppRunner(app, shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield service
    finally:
        await runner.cleanup()
