"""An incoming request: an ASGI scope with the methods that the request pipeline needs, and the body with its limits."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import anyio

from callwright.contract.problems import INVALID_JSON, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT
from callwright.service.platform.refusals import Refusal

MAX_BODY = 1_000_000
"""Bytes of a request body."""
BODY_LIMIT_S = 20.0
"""How long a body may take to arrive."""


class Incoming:
    """One request. Header names are given in lower case."""

    __slots__ = ("_headers", "_receive", "method", "path", "query", "scope")

    def __init__(self, scope: MutableMapping[str, Any], receive: Callable[[], Awaitable[Any]]) -> None:
        self.scope = scope
        self._receive = receive
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope["query_string"]
        self._headers: dict[bytes, bytes] = dict(reversed(scope["headers"]))  # of equal names the first counts

    def header(self, name: bytes) -> str | None:
        found = self._headers.get(name)
        return None if found is None else found.decode("latin-1")

    def drop(self, name: bytes) -> None:
        """Removes a header from the scope, so that the code that sends the answer does not see it."""
        self.scope["headers"] = [pair for pair in self.scope["headers"] if pair[0] != name]

    @property
    def address(self) -> str | None:
        """The address of the client; None for a request from this process."""
        client = self.scope.get("client")
        return client[0] if client else None

    async def body(self) -> bytes:
        """The body.

        Raises:
            Refusal: payload_too_large as soon as it is too large, request_timeout if it takes more than 20 seconds.
        """
        declared = self.header(b"content-length") or ""
        if declared.isdigit() and int(declared[:20]) > MAX_BODY:
            raise Refusal(PAYLOAD_TOO_LARGE)
        pieces: list[bytes] = []
        size, has_more = 0, True
        with anyio.move_on_after(BODY_LIMIT_S):
            while has_more:
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    raise Refusal(INVALID_JSON, "the connection ended before the body did")
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if size > MAX_BODY:
                    raise Refusal(PAYLOAD_TOO_LARGE)
                has_more = message.get("more_body", False)
            return b"".join(pieces)
        raise Refusal(REQUEST_TIMEOUT, headers={"Connection": "close"})
