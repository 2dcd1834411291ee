"""Limits the number of requests being answered, and gives them time to finish when the server stops."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Self

import anyio
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_OPEN = 2_000
"""The most requests answered at a time. A client that listens keeps one open."""
GRACE_S = 4.0
"""How long a stop waits for requests to be answered."""
LISTENING_GRACE_S = 0.5
"""How long it waits for streams, which have no end of their own. Over SSE answers are sent on a stream: while a call is
running the stop waits for its stream too, and then this much longer.
"""
LISTENS = "subscriptions/listen"
"""The method by which the protocol of 2026-07-28 listens. In the older protocol and over SSE, a GET listens."""
_ENDS = "The server ends."


class _AnswerProgress:
    """Passes an answer on and records whether it has begun and is complete."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.is_begun = False
        self.is_complete = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.is_begun = True
        elif message["type"] == "http.response.body" and not message.get("more_body", False):
            self.is_complete = True
        await self._send(message)


class OpenRequest:
    """An open request, and how many running calls are answered on it: at first its own."""

    def __init__(self, scope: anyio.CancelScope, *, listens: bool) -> None:
        self.scope = scope
        self._calls = 0 if listens else 1
        self._is_over = False
        self._changed = anyio.Event()

    @contextmanager
    def call(self) -> Generator[None]:
        """Counts a call that is answered on this request, inside the context."""
        self._calls += 1
        self._tell()
        try:
            yield
        finally:
            self._calls -= 1
            self._tell()

    def close(self) -> None:
        """Records that it has ended."""
        self._is_over = True
        self._tell()

    def _tell(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def end(self) -> None:
        """Waits until it has ended, or no call was running for `LISTENING_GRACE_S`; then cancels it."""
        while not self._is_over:
            with anyio.move_on_after(None if self._calls else LISTENING_GRACE_S) as quiet:
                await self._changed.wait()
            if quiet.cancelled_caught:
                self.scope.cancel()
                return


_CURRENT: ContextVar[OpenRequest | None] = ContextVar("callwright_open_request", default=None)


def current_request() -> OpenRequest | None:
    """The current request; None outside of any."""
    return _CURRENT.get()


class OpenRequests:
    """Answers requests inside `async with`; the end of the block ends those that are open."""

    def __init__(self, app: ASGIApp, *, most: int = MOST_OPEN, grace_s: float = GRACE_S) -> None:
        self._app, self._most, self._grace_s = app, most, grace_s
        self._open: set[OpenRequest] = set()
        self._is_ending = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_ending = True
        if not self._open:
            return
        with anyio.move_on_after(self._grace_s, shield=True):
            async with anyio.create_task_group() as tasks:
                for request in self._open:
                    tasks.start_soon(request.end)
        for request in self._open:
            request.scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request; 503 if there are too many, or the server is stopping."""
        if self._is_ending or len(self._open) >= self._most:
            words = _ENDS if self._is_ending else "Too many requests are open."
            await _unavailable(words)(scope, receive, send)
            return
        answer = _AnswerProgress(send)
        with anyio.CancelScope() as cancel:
            request = OpenRequest(cancel, listens=_listens(scope))
            self._open.add(request)
            token = _CURRENT.set(request)
            try:
                await self._app(scope, receive, answer.send)
            finally:
                _CURRENT.reset(token)
                self._open.discard(request)
                request.close()
        if not cancel.cancelled_caught or answer.is_complete:
            return
        if answer.is_begun:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await _unavailable(_ENDS)(scope, receive, send)


def _unavailable(words: str) -> PlainTextResponse:
    return PlainTextResponse(words, 503, {"Retry-After": "1"})


def _listens(scope: Scope) -> bool:
    """Whether a request is a stream, open for as long as its client likes."""
    return scope["method"] == "GET" or (b"mcp-method", LISTENS.encode()) in scope["headers"]
