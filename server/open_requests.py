"""The requests that are being answered: bounded in number, and ended in good order when the server ends."""

from types import TracebackType
from typing import Self

import anyio
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_OPEN = 2_000
"""Requests answered at a time. A client that listens keeps one open."""
GRACE_S = 4.0
"""How long the end waits for requests to be answered."""
LISTENING_GRACE_S = 0.5
"""How long it waits where only those who listen are left: what they listen to has no end of its own."""
_LISTENS = b"subscriptions/listen"
"""What the protocol of 2026-07-28 says in `Mcp-Method`; by the older protocol and over SSE, a GET listens."""


class _Answer:
    """Passes an answer on and notes how far it has come."""

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


class OpenRequests:
    """Answers requests inside `async with`; the end of the block ends those that are open."""

    def __init__(self, app: ASGIApp, *, most: int = MOST_OPEN, grace_s: float = GRACE_S) -> None:
        self._app, self._most, self._grace_s = app, most, grace_s
        self._open: set[anyio.CancelScope] = set()
        self._working: set[anyio.CancelScope] = set()
        self._is_ending = False
        self._none_works, self._none_left = anyio.Event(), anyio.Event()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_ending = True
        if not self._open:
            return
        if self._working:
            with anyio.move_on_after(self._grace_s, shield=True):
                await self._none_works.wait()
        if self._open:
            with anyio.move_on_after(min(self._grace_s, LISTENING_GRACE_S), shield=True):
                await self._none_left.wait()
        for scope in self._open:
            scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request; 503 where there are too many, or the server ends."""
        if self._is_ending or len(self._open) >= self._most:
            words = "The server ends." if self._is_ending else "Too many requests are open."
            await PlainTextResponse(words, 503, {"Retry-After": "1"})(scope, receive, send)
            return
        answer = _Answer(send)
        with anyio.CancelScope() as cancel:
            self._open.add(cancel)
            if not _listens(scope):
                self._working.add(cancel)
            try:
                await self._app(scope, receive, answer.send)
            finally:
                self._open.discard(cancel)
                self._working.discard(cancel)
                if self._is_ending and not self._working:
                    self._none_works.set()
                if self._is_ending and not self._open:
                    self._none_left.set()
        if not cancel.cancelled_caught or answer.is_complete:
            return
        if answer.is_begun:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await PlainTextResponse("The server ends.", 503)(scope, receive, send)


def _listens(scope: Scope) -> bool:
    """Whether a request is open for as long as its client likes."""
    return scope["method"] == "GET" or (b"mcp-method", _LISTENS) in scope["headers"]
