"""A scripted client, clock and session, and a protocol server around them."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, ParamSpec, TypeVar, cast

import anyio
from mcp import Client

from callwright.client.errors import AnswerTooLarge, CallwrightError
from callwright.contract.model import Input
from callwright.contract.operation import MediaStream, Operation
from callwright.server.app import CallwrightServer, build
from callwright.server.session import ServerSession
from callwright.tools.use import Caller, Media, Use

from . import samples

P = ParamSpec("P")
In = TypeVar("In", bound=Input)
Out = TypeVar("Out")

ERAS = ("legacy", "auto")
"""How the official client connects: by the older handshake, or as it finds, which is the protocol of 2026-07-28."""


@dataclass
class FakeMedia:
    """Bytes that are there already. `size` None stands for a service that does not say."""

    body: bytes
    media_type: str = "audio/mpeg"
    etag: str | None = None
    says_size: bool = True

    @property
    def size(self) -> int | None:
        return len(self.body) if self.says_size else None

    async def read(self, max_bytes: int, /) -> bytes:
        if len(self.body) > max_bytes:
            raise AnswerTooLarge(limit_bytes=max_bytes)
        return self.body


@dataclass
class Asked:
    """A question the client was asked."""

    operation: str
    asked: Input
    key: str | None


@dataclass
class FakeCaller:
    """Answers from a script: a value, an error to raise, or a list of them to use up in turn."""

    answers: dict[str, Any] = field(default_factory=samples.answers)
    media: FakeMedia | CallwrightError = field(default_factory=lambda: FakeMedia(b"ID3" + bytes(2_000)))
    asked: list[Asked] = field(default_factory=list[Asked])

    async def ask(self, operation: Operation[P, In, Out], asked: In, /, *, idempotency_key: str | None = None) -> Out:
        await anyio.lowlevel.checkpoint()
        self.asked.append(Asked(operation.name, asked, idempotency_key))
        answer: Any = self.answers[operation.name]
        if callable(answer):
            answer = answer(asked)
        if isinstance(answer, list):
            answer = cast("list[Any]", answer).pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return cast("Out", answer)

    def open(self, operation: Operation[P, In, MediaStream], asked: In, /) -> AbstractAsyncContextManager[Media]:
        return self._open(operation.name, asked)

    @asynccontextmanager
    async def _open(self, name: str, asked: Input) -> AsyncGenerator[Media]:
        self.asked.append(Asked(name, asked, None))
        if isinstance(self.media, CallwrightError):
            raise self.media
        yield self.media

    def names(self) -> list[str]:
        """The operations asked for, in order."""
        return [entry.operation for entry in self.asked]


@dataclass
class FakeClock:
    """Time that passes only by sleeping."""

    now: float = 1_000.0
    slept: list[float] = field(default_factory=list[float])

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float, /) -> None:
        await anyio.lowlevel.checkpoint()
        self.slept.append(seconds)
        self.now += seconds


def numbered(prefix: str = "id") -> Callable[[], str]:
    """Ids that count: id1, id2, …"""
    numbers = count(1)
    return lambda: f"{prefix}{next(numbers)}"


def session(
    caller: Caller | None = None,
    *,
    clock: FakeClock | None = None,
    base_url: str | None = "http://127.0.0.1:8080/v1",
    masks: bool = True,
    failing: CallwrightError | None = None,
) -> ServerSession:
    """A session whose connection is `caller`, or fails with `failing`."""

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Caller]:
        if failing is not None:
            raise failing
        yield caller or FakeCaller()

    return ServerSession(connect, ids=numbered(), clock=clock or FakeClock(), base_url=base_url, masks=masks)


def server(caller: Caller | None = None, **options: Any) -> CallwrightServer:
    """A protocol server over a fake client."""
    return build(session(caller, **options).opened)


@asynccontextmanager
async def assistant(built: CallwrightServer, era: str) -> AsyncGenerator[Client]:
    """The official client, connected in memory. Open it inside the test body."""
    with anyio.fail_after(30):
        async with Client(built, mode=era) as client:
            yield client


def use_of(caller: Caller) -> Use:
    """What a tool has in hand, for calling it without a server around it."""

    async def progress(now: float, total: float | None, words: str, /) -> None:
        del now, total, words

    return Use(client=caller, session=session(caller), progress=progress)
