"""An endpoint of a customer's, on this machine: it takes every event and keeps it."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream

SETTINGS = {"CALLWRIGHT_WEBHOOK_NETWORKS": "127.0.0.1/32"}
"""What a service needs to send to it."""
_MOST_BYTES = 200_000


@dataclass
class Receiver:
    """`url` is where it listens; `events` what came, `signatures` the header that came with each."""

    url: str
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    signatures: list[str] = field(default_factory=list[str])

    async def take(self, stream: SocketStream) -> None:
        """Answers one request with 200 and closes."""
        async with stream:
            with anyio.move_on_after(10):
                head, _, body = (await self._until(stream, b"", b"\r\n\r\n")).partition(b"\r\n\r\n")
                lines = head.decode("latin-1").split("\r\n")[1:]
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                while len(body) < int(headers["content-length"]):
                    body += await stream.receive()
                self.events.append(json.loads(body))
                self.signatures.append(headers["x-service-signature"])
                await stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nTaken")

    async def _until(self, stream: SocketStream, found: bytes, end: bytes) -> bytes:
        while end not in found and len(found) < _MOST_BYTES:
            found += await stream.receive()
        return found


@asynccontextmanager
async def receiving() -> AsyncGenerator[Receiver]:
    """A receiver that listens until the block ends."""
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(SocketAttribute.local_port)
        receiver = Receiver(f"http://127.0.0.1:{port}/events")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, receiver.take)
            yield receiver
            tasks.cancel_scope.cancel()
