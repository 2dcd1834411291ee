"""Endpoints on the loopback that do what a test tells them, and count who comes."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ssl import SSLContext

from tests.support.http.stream_servers import stream_server

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Sink:
    """A server: its port, and what came to it."""

    port: int = 0
    connections: int = 0
    open: int = 0
    most_open: int = 0
    requests: list[bytes] = field(default_factory=list[bytes])
    sent: int = 0
    """Bytes that an endless answer has sent."""
    arrivals: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    """One for each request."""
    departures: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    """One for each connection that has ended."""

    def url(self, host: str = "127.0.0.1", scheme: str = "http") -> str:
        """The address of the sink, by whichever name."""
        return f"{scheme}://{host}:{self.port}/hook"


def saying(answer: bytes) -> Answer:
    """Answers with these bytes and waits for the next request."""

    async def say(writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()

    return say


def closing(answer: bytes = b"") -> Answer:
    """Answers with these bytes and closes the connection."""

    async def close(writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()
        writer.close()

    return close


def status(code: int, body: bytes = b"", *headers: str) -> bytes:
    """An answer of HTTP."""
    lines = [f"HTTP/1.1 {code} Status", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + body


async def silent(_: asyncio.StreamWriter) -> None:
    """Says nothing."""


def dribbling(start: bytes, drop: bytes) -> Answer:
    """Says the start at once and then one drop after another, without an end."""

    async def dribble(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        with suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(drop)
                await writer.drain()
                await asyncio.sleep(0.005)

    return dribble


@asynccontextmanager
async def sink(
    answer: Answer | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: SSLContext | None = None,
    greeting: bytes = b"",
) -> AsyncGenerator[Sink]:
    """A server that answers every request; 200 without a body where nothing else is said. A `greeting` comes first."""
    answering = answer or saying(status(200))
    found = Sink()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.connections += 1
        found.open += 1
        found.most_open = max(found.most_open, found.open)
        writer.write(greeting)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
                )
                found.requests.append(head + await reader.readexactly(length))
                found.arrivals.release()
                await answering(writer)
        finally:
            found.open -= 1
            found.departures.release()

    async with stream_server(serve, host=host, port=port, tls=tls) as found.port:
        yield found
