"""A load generator that uses little processor time: one request at a time on each of many connections.

It finds the end of an answer by its `content-length` and checks only its status.
"""

import asyncio
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio

_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_OPTIONS = {"use_uvloop": sys.platform != "win32"}


@dataclass
class Load:
    """The state that all connections share: the source of requests, the expected status, and the number of answers."""

    next_request: Callable[[], bytes]
    status: bytes
    until: float
    answered: int = 0
    open: int = 0


class _Connection(asyncio.Protocol):
    def __init__(self, load: Load, closed: asyncio.Event) -> None:
        self._load, self._closed, self._held = load, closed, b""
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._load.open += 1
        self._transport = transport
        self._transport.write(self._load.next_request())

    def data_received(self, data: bytes) -> None:
        held = self._held = self._held + data
        head = held.find(b"\r\n\r\n")
        if head < 0:
            return
        length = _LENGTH.search(held, 0, head)
        if length is None or held[9:12] != self._load.status:
            raise RuntimeError(held.decode())
        if len(held) < head + 4 + int(length[1]):
            return
        self._held = b""
        self._load.answered += 1
        if time.perf_counter() < self._load.until:
            self._transport.write(self._load.next_request())
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._load.open -= 1
        if not self._load.open:
            self._closed.set()


def answered(address: str, next_request: Callable[[], bytes], status: int, connections: int, seconds: float) -> int:
    """How many requests are answered within `seconds`. Raises RuntimeError if an answer has another status."""

    async def run() -> int:
        host, _, port = address.rpartition(":")
        loop, closed = asyncio.get_running_loop(), asyncio.Event()
        load = Load(next_request, str(status).encode(), time.perf_counter() + seconds)
        failures: list[dict[str, Any]] = []
        loop.set_exception_handler(lambda _, context: (failures.append(context), closed.set())[0])
        for _ in range(connections):
            await loop.create_connection(lambda: _Connection(load, closed), host, int(port))
        with anyio.fail_after(seconds + 30):
            await closed.wait()
        if failures:
            raise RuntimeError(str(failures[0].get("exception") or failures[0]["message"]))
        return load.answered

    return anyio.run(run, backend_options=_OPTIONS)
