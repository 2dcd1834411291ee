"""An endpoint of a customer's, on this machine: it takes every event and keeps it."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio

from tests.support.http.stream_servers import stream_server

SETTINGS = {"CALLWRIGHT_WEBHOOK_NETWORKS": "127.0.0.1/32"}
"""What a service needs to send to it."""


@dataclass
class Receiver:
    """`url` is where it listens; `events` what came, `signatures` the header that came with each."""

    url: str = ""
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    signatures: list[str] = field(default_factory=list[str])

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one request with 200 and closes."""
        with anyio.move_on_after(10):
            lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[1:]
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = await reader.readexactly(int(headers["content-length"]))
            self.events.append(json.loads(body))
            self.signatures.append(headers["x-service-signature"])
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nTaken")
            await writer.drain()


@asynccontextmanager
async def receiving() -> AsyncGenerator[Receiver]:
    """A receiver that listens until the block ends."""
    receiver = Receiver()
    async with stream_server(receiver.take) as port:
        receiver.url = f"http://127.0.0.1:{port}/events"
        yield receiver
