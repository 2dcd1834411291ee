"""A scripted client, clock and session, and a protocol server around them."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, ParamSpec, TypeVar, cast

import anyio
from mcp import Client
from pydantic import JsonValue

from callwright.client.compat.lenient_response import LenientResponse
from callwright.client.compat.upload_address import UploadState
from callwright.client.errors import AddressUnreadable, AnswerTooLarge, CallwrightError, NotOffered
from callwright.contract.confirmations import ask_confirmation
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import MediaStream, Operation
from callwright.server.mcp.app import CallwrightServer, build
from callwright.server.mcp.session import ServerSession
from callwright.tools.runtime.tool_context import Caller, Media, StreamedMedia, ToolContext
from tests.support.tools import samples

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
    breaks: Exception | None = None

    @property
    def size(self) -> int | None:
        return len(self.body) if self.says_size else None

    async def read(self, max_bytes: int, /) -> bytes:
        if len(self.body) > max_bytes:
            raise AnswerTooLarge(limit_bytes=max_bytes)
        return self.body

    async def aiter_bytes(self, max_bytes: int | None = None) -> AsyncGenerator[bytes]:
        """The bytes in pieces; then `breaks`, if something does."""
        del max_bytes
        for begin in range(0, len(self.body), 1_000):
            yield self.body[begin : begin + 1_000]
        if self.breaks is not None:
            raise self.breaks


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
    at: dict[str, FakeMedia] = field(default_factory=dict[str, FakeMedia])
    """What stands at addresses."""
    addresses: list[str] = field(default_factory=list[str])
    uploaded: bytearray = field(default_factory=bytearray)
    """What was sent to the address of an upload."""
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the last question carried that the contract does not know."""

    async def ask(self, operation: Operation[P, In, Out], asked: In, /, *, idempotency_key: str | None = None) -> Out:
        await anyio.lowlevel.checkpoint()
        if operation.name == ask_confirmation.name and operation.name not in self.answers:
            raise NotOffered(operation.name, status=404, base_url="http://fake/v1", tried=("POST /confirmations",))
        self.asked.append(Asked(operation.name, asked, idempotency_key))
        answer: Any = self.answers[operation.name]
        if callable(answer):
            answer = answer(asked)
        if isinstance(answer, list):
            answer = cast("list[Any]", answer).pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return cast("Out", answer)

    async def ask_lenient(
        self,
        operation: Operation[P, In, Out],
        asked: In,
        /,
        *,
        idempotency_key: str | None = None,
        extra: Mapping[str, JsonValue] | None = None,
    ) -> LenientResponse[Out]:
        """Answers that fit. One that is a dict stands for an answer that does not."""
        self.extra = dict(extra or {})
        answer: Any = await self.ask(operation, asked, idempotency_key=idempotency_key)
        if answer is None or isinstance(answer, dict):
            return LenientResponse(answer=None, data=cast("dict[str, Any]", answer or {}))
        return LenientResponse(answer=answer, data=answer.model_dump(mode="json", by_alias=True, exclude_none=True))

    def open(
        self, operation: Operation[P, In, MediaStream], asked: In, /
    ) -> AbstractAsyncContextManager[StreamedMedia]:
        return self._open(operation.name, asked)

    def open_address(self, url: str, /, *, accepts: Callable[[str], bool]) -> AbstractAsyncContextManager[Media]:
        return self._open_address(url)

    async def send_part(self, url: str, content: bytes, /, *, begin: int, total: int) -> UploadState:
        """Takes parts in order, as the service does."""
        self.addresses.append(url)
        if content and begin == len(self.uploaded):
            self.uploaded += content
        return UploadState(len(self.uploaded), is_complete=len(self.uploaded) == total)

    @asynccontextmanager
    async def _open_address(self, url: str) -> AsyncGenerator[Media]:
        self.addresses.append(url)
        found = self.at.get(url)
        if found is None:
            raise AddressUnreadable("service.test answered with status 404")
        yield found

    @asynccontextmanager
    async def _open(self, name: str, asked: Input) -> AsyncGenerator[StreamedMedia]:
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

    def time(self) -> float:
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
    with anyio.fail_after(60):
        async with Client(built, mode=era) as client:
            yield client


def use_of(caller: Caller) -> ToolContext:
    """What a tool has in hand, for calling it without a server around it."""

    async def progress(now: float, total: float | None, words: str, /) -> None:
        del now, total, words

    return ToolContext(client=caller, session=session(caller), progress=progress)
