"""A calendar on the loopback interface, as an agent's tools ask it: free times, and bookings of them."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

FREE = ("Tuesday at ten", "Wednesday at three")
SECRET = "Bearer c4lendar-s3cret"


@dataclass
class Calendar:
    """What it was asked, and what it does: answer late, answer with a status, or answer some other bytes."""

    url: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Method and path with its query, in the order of the requests."""
    headers: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])
    booked: list[object] = field(default_factory=list[object])
    delay_s: float = 0.0
    status: int = 200
    answer: bytes | None = None
    location: str | None = None
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def _answered(self, request: web.Request, value: object) -> web.Response:
        self.asked.append((request.method, request.raw_path))
        self.headers.append(dict(request.headers))
        self.was_asked.set()
        await asyncio.sleep(self.delay_s)
        if self.location is not None:
            return web.Response(status=302, headers={"Location": self.location})
        if self.answer is not None:
            return web.Response(body=self.answer, status=self.status)
        return web.json_response(
            value if self.status == 200 else {"error": "the calendar is broken"}, status=self.status
        )

    async def free(self, request: web.Request) -> web.Response:
        return await self._answered(request, {"times": list(FREE)})

    async def book(self, request: web.Request) -> web.Response:
        booking = await request.json()
        self.booked.append(booking)
        return await self._answered(request, {"booked": booking["time"], "reference": "B-17"})


@asynccontextmanager
async def calendar() -> AsyncGenerator[Calendar]:
    """Serves on the loopback interface until the block ends."""
    service = Calendar()
    app = web.Application()
    app.router.add_get("/free", service.free)
    app.router.add_post("/book", service.book)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield service
    finally:
        await runner.cleanup()


def booking_tools(service: Calendar, *, first_words: str) -> list[dict[str, Any]]:
    """Tools that offer two times at these words of the contact and book one; both need a secret."""
    plain = {"type": "http", "description": "Asks the calendar.", "secret_headers": ["Authorization"]}
    return [
        plain
        | {
            "name": "free_times",
            "url": f"{service.url}/free?of={{{{first_name}}}}",
            "columns": ["first_name"],
            "use_when": {
                "words": [first_words],
                "say": "I can offer {{answer.times.0}} or {{answer.times.1}}. Which one suits you?",
            },
        },
        plain
        | {
            "name": "book",
            "method": "POST",
            "url": f"{service.url}/book",
            "parameters": {"type": "object", "properties": {"time": {"type": "string"}}, "required": ["time"]},
            "use_when": {"after": "free_times", "say": "You are booked for {{answer.booked}}."},
        },
    ]
