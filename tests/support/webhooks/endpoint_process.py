"""A receiver on loopback in a process of its own, for tests and benchmarks that send much.

    python -m tests.support.webhooks.endpoint_process

Prints the port it listens on. Answers 204 to every POST, and to `GET /` the numbers of requests by path and event as
JSON: `{"/path": {"evt_…": 2}}`. Ends when its standard input does.
"""

import asyncio
import contextlib
import json
import subprocess
import sys
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import anyio

ROOT = Path(__file__).parents[3]
_EVENT = b"x-service-event-id: "
_LENGTH = b"content-length: "
TAKEN = b"HTTP/1.1 204 No Content\r\n\r\n"


class _Connection(asyncio.Protocol):
    """As little HTTP as keeps an honest sender content: a receiver must not be what is measured."""

    def __init__(self, seen: defaultdict[str, Counter[str]]) -> None:
        self._seen, self._left = seen, b""
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        data = self._left + data
        while (end := data.find(b"\r\n\r\n")) >= 0:
            head = data[:end]
            low = head.lower() + b"\r\n"
            length = int(_value(low, _LENGTH) or b"0")
            if len(data) < end + 4 + length:
                break
            method, path, _ = head.split(b" ", 2)
            if method == b"GET":
                told = json.dumps(self._seen).encode()
                self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(told), told))
            else:
                at = low.find(_EVENT)
                event = head[at + len(_EVENT) : low.index(b"\r\n", at)].decode() if at >= 0 else ""
                self._seen[path.decode()][event] += 1
                self._transport.write(TAKEN)
            data = data[end + 4 + length :]
        self._left = data


def _value(head: bytes, name: bytes) -> bytes | None:
    at = head.find(name)
    return None if at < 0 else head[at + len(name) : head.index(b"\r\n", at)]


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    server = await loop.create_server(lambda: _Connection(seen), "127.0.0.1", 0, backlog=1_024)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    async with server:
        await loop.run_in_executor(None, sys.stdin.read)


class Sink:
    """A running receiver."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def seen(self) -> dict[str, dict[str, int]]:
        """How often each event came, by path."""
        with urllib.request.urlopen(f"{self.url}/", timeout=20) as answer:
            return json.loads(answer.read())


@contextmanager
def sink() -> Generator[Sink]:
    """The receiver, running. It is gone when the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.webhooks.endpoint_process"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield Sink(int(process.stdout.readline()))
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.communicate(timeout=20)


if __name__ == "__main__":
    anyio.run(_serve, backend_options={"use_uvloop": sys.platform != "win32"})
