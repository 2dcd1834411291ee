"""An address that is asked before each call, on the loopback, and what was asked."""

import json
from asyncio import StreamWriter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.support.webhooks.endpoints import Sink, sink, status

Question = dict[str, Any]
Decide = Callable[[Question], bytes | None]
"""The bytes of an answer; None for none at all."""


def answer(**members: Any) -> bytes:
    """A clear answer."""
    return status(200, json.dumps(members).encode())


YES, NO = answer(eligible=True), answer(eligible=False, reason="asked us by letter")


@dataclass(frozen=True)
class Asked:
    """An address with what it was asked."""

    sink: Sink

    @property
    def url(self) -> str:
        """Its address."""
        return self.sink.url()

    @property
    def questions(self) -> list[Question]:
        """What it was asked, in order."""
        return [json.loads(body_of(request)) for request in self.sink.requests]


def body_of(request: bytes) -> bytes:
    """The body of a request."""
    return request.partition(b"\r\n\r\n")[2]


def header_of(request: bytes, name: str) -> str | None:
    """A header of a request; None if it has none of that name."""
    for line in request.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]:
        found, _, value = line.partition(":")
        if found.lower() == name.lower():
            return value.strip()
    return None


@asynccontextmanager
async def asked(decide: Decide = lambda _: YES) -> AsyncGenerator[Asked]:
    """An address that decides by the question."""

    async def say(writer: StreamWriter) -> None:
        said = decide(json.loads(body_of(found.requests[-1])))
        if said is not None:
            writer.write(said)
            await writer.drain()

    async with sink(say) as found:
        yield Asked(found)
