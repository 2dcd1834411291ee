"""A host on the loopback that gives one file, in part where it is asked so, and breaks off where a test says so."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.support.http.stream_servers import stream_server

_BEFORE_IT_BREAKS_S = 0.3
_RANGE = re.compile(rb"range: bytes=(\d+)-\r\n", re.IGNORECASE)


@dataclass
class FileHost:
    """What the host has and does. `answers` are answered in turn before the file is given."""

    content: bytes = b""
    tag: str = '"one"'
    ranges: bool = True
    breaks_after: list[int] = field(default_factory=list[int])
    """After so many bytes of a body the connection breaks, once each."""
    answers: list[bytes] = field(default_factory=list[bytes])
    asked: list[str] = field(default_factory=list[str])
    """The heads of the requests."""
    port: int = 0

    def url(self, path: str = "/people.csv?token=hush-hush", host: str = "127.0.0.1") -> str:
        """The address of the file."""
        return f"http://{host}:{self.port}{path}"

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one request."""
        head = await reader.readuntil(b"\r\n\r\n")
        self.asked.append(head.decode("latin-1"))
        breaks = bool(self.breaks_after) and not self.answers
        writer.write(self.answers.pop(0) if self.answers else self._file(head))
        await writer.drain()
        if breaks:  # what came together with the end of a connection is dropped by the client's library
            await asyncio.sleep(_BEFORE_IT_BREAKS_S)

    def _file(self, head: bytes) -> bytes:
        begin, found = 0, _RANGE.search(head)
        lines = [f"ETag: {self.tag}"] if self.tag else []
        status = "200 OK"
        if found is not None and self.ranges and f"if-range: {self.tag}".encode() in head.lower():
            begin, status = int(found[1]), "206 Partial Content"
            lines.append(f"Content-Range: bytes {begin}-{len(self.content) - 1}/{len(self.content)}")
        body = self.content[begin:]
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Content-Type: text/csv", *lines, "", ""]
        sent = body[: self.breaks_after.pop(0)] if self.breaks_after else body
        return "\r\n".join(lines).encode() + sent


@asynccontextmanager
async def file_host(content: bytes) -> AsyncGenerator[FileHost]:
    """A host that gives this file, until the block ends."""
    host = FileHost(content)
    async with stream_server(host) as port:
        host.port = port
        yield host
