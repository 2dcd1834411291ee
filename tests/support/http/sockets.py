"""Bytes to a service on the loopback, exactly as they are given, and what comes back: for what no HTTP client sends."""

import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

from callwright.contract.problems import PROBLEMS
from tests.support.mcp.over_http import Served

LIMIT_S = 20.0
"""How long a connection may take for everything a test does with it."""
LOST = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


@dataclass(frozen=True)
class Heard:
    """One answer. Header names are in lower case; of two alike the last one is there."""

    status: int
    headers: dict[str, str]
    body: bytes

    def problem(self) -> str:
        """The code of a problem, whose envelope must be right."""
        body: Any = json.loads(self.body)
        error = body["error"]
        found = body if isinstance(error, str) else error
        code: str = error if isinstance(error, str) else error["code"]
        assert (PROBLEMS[code].status, PROBLEMS[code].flat) == (self.status, isinstance(error, str)), body
        assert found["message"]
        assert found["request_id"] == self.headers["x-request-id"]
        assert self.headers["content-type"] == "application/json"
        return code


class Line:
    """A connection to the service."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._kept = b""

    async def say(self, *pieces: bytes) -> None:
        """Sends bytes. What the other side does not want to hear any more is dropped."""
        for piece in pieces:
            try:
                await self._stream.send(piece)
            except LOST:
                return

    async def hear(self, method: str = "GET") -> Heard | None:
        """The next answer, to a request of that method; None where the other side hung up instead."""
        head = await self._until(b"\r\n\r\n")
        if head is None:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        status = int(first.split(" ")[1])
        if status == 100:
            return await self.hear(method)
        if method == "HEAD" or status in (204, 304):
            return Heard(status, headers, b"")
        return Heard(status, headers, await self._body(headers))

    async def has_ended(self) -> bool:
        """Whether nothing more comes and the other side hung up."""
        return await self._more() is False and not self._kept

    async def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") == "chunked":
            whole = b""
            while size := int(await self._until(b"\r\n") or b"0", 16):
                whole += await self._exactly(size + 2)
            await self._exactly(2)
            return whole
        return await self._exactly(int(headers.get("content-length", "0")))

    async def _until(self, end: bytes) -> bytes | None:
        while end not in self._kept:
            if not await self._more():
                return None
        found, _, self._kept = self._kept.partition(end)
        return found

    async def _exactly(self, count: int) -> bytes:
        while len(self._kept) < count:
            assert await self._more(), "the answer is not complete"
        found, self._kept = self._kept[:count], self._kept[count:]
        return found

    async def _more(self) -> bool:
        try:
            self._kept += await self._stream.receive()
        except LOST:
            return False
        return True


@asynccontextmanager
async def line_to(root: str) -> AsyncGenerator[Line]:
    """A new connection to the loopback address `http://127.0.0.1:<port>`."""
    with anyio.fail_after(LIMIT_S):
        async with await anyio.connect_tcp("127.0.0.1", int(root.rpartition(":")[2])) as stream:
            yield Line(stream)


@dataclass(frozen=True)
class Wire:
    """Makes connections to a served service, and requests with its key."""

    served: Served

    def line(self) -> AbstractAsyncContextManager[Line]:
        """A new connection."""
        return line_to(self.served.root)

    def head(self, request_line: bytes, *headers: bytes) -> bytes:
        """A request's head."""
        own = (b"Host: localhost", b"Authorization: Bearer " + self.served.tenant.api_key.encode())
        return b"\r\n".join((request_line + b" HTTP/1.1", *own, *headers, b"", b""))

    def post(self, target: bytes, body: bytes, *headers: bytes, media_type: bytes = b"application/json") -> bytes:
        """A request with a body and its length."""
        own = (b"Content-Type: " + media_type, b"Content-Length: %d" % len(body))
        return self.head(b"POST " + target, *own, *headers) + body

    async def asked(self, *pieces: bytes, method: str = "GET") -> Heard | None:
        """The answer on a new connection."""
        async with self.line() as line:
            await line.say(*pieces)
            return await line.hear(method)

    async def refused(self, request: bytes | Iterable[bytes], status: int, code: str) -> Heard:
        """The problem that must come, after which the service must go on."""
        heard = await self.asked(*([request] if isinstance(request, bytes) else request))
        told = f"{request!r}"[:200]
        assert heard is not None, told
        assert heard.status == status, (told, heard)
        assert heard.problem() == code, (told, heard)
        await self.goes_on()
        return heard

    async def goes_on(self) -> None:
        """A good request on a new connection must be done."""
        heard = await self.asked(self.head(b"GET /v1/wallet"))
        assert heard is not None
        if heard.status != 200:
            pytest.fail(f"the service does not go on: {heard}")
