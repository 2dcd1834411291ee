"""Limits what one key may hold open at the MCP server, so that no key takes the capacity of all.

The SDK counts sessions of the older protocol over all keys, and ends one that is unused for half an hour. Here they are
counted for each key, by the ids in headers.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_OPEN = 200
"""The most requests of a key that are answered at a time. A client that listens, or uses SSE, keeps one open."""
MOST_SESSIONS = 100
"""The most sessions of the older protocol that a key may have at a time."""
SESSION_IDLE_S = 1_800.0
"""A session ends after this time without a request."""
SOON_S = 1.0
"""The `Retry-After` for a key that has too many requests open: nobody knows when one is answered."""
_VERSION = "mcp-protocol-version"
_TOO_MANY_OPEN = f"This key has {MOST_OPEN} requests open. Wait until one is answered, or end a client that listens."
_TOO_MANY_SESSIONS = (
    f"This key has {MOST_SESSIONS} sessions. End one (DELETE with its Mcp-Session-Id), or wait: each ends after half "
    "an hour without a request. The protocol of 2026-07-28 needs no session."
)


@dataclass(slots=True)
class _OpenSession:
    requests: int = 0
    used_at: float = 0.0


@dataclass(slots=True)
class _KeyUsage:
    """What a key holds open."""

    open: int = 0
    opening: int = 0
    sessions: dict[str, _OpenSession] = field(default_factory=dict[str, _OpenSession])


class KeyLimits:
    """Passes requests on unless their key holds too much; then answers 429."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        path: str,
        limit_headers: Callable[[int, float], Mapping[str, str]],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`limit_headers` gives the headers of a 429 for a key that holds as many as it may, for so many seconds."""
        self._app, self._path, self._limit_headers, self._now = app, path, limit_headers, now
        self._usage: dict[str, _KeyUsage] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, whose key is known."""
        user: AuthenticatedUser = scope["user"]
        key = user.access_token.client_id
        held = self._usage.setdefault(key, _KeyUsage())
        named = Headers(scope=scope).get(MCP_SESSION_ID_HEADER) if scope["path"] == self._path else None
        opens = named is None and self._may_open(scope)
        if held.open >= MOST_OPEN:
            await self._too_many(_TOO_MANY_OPEN, MOST_OPEN, SOON_S)(scope, receive, send)
            return
        if opens and self._sessions(held) + held.opening >= MOST_SESSIONS:
            await self._too_many(_TOO_MANY_SESSIONS, MOST_SESSIONS, self._first_end_s(held))(scope, receive, send)
            return
        held.open += 1
        try:
            await self._passed_on(scope, receive, send, held, named, opens)
        finally:
            held.open -= 1
            if not held.open and not self._sessions(held):
                self._usage.pop(key, None)

    async def _passed_on(
        self, scope: Scope, receive: Receive, send: Send, held: _KeyUsage, named: str | None, opens: bool
    ) -> None:
        held.opening += opens
        session = held.sessions.get(named) if named is not None else None
        if session is not None:
            session.requests += 1
        made: _OpenSession | None = None

        async def noting(message: Message) -> None:
            nonlocal made
            if message["type"] == "http.response.start":
                status: int = message["status"]
                given = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER)
                if named is None and given is not None and status < 400:
                    made = held.sessions[given] = _OpenSession(requests=1)
                    held.opening -= opens
                elif status == 503:  # from the SDK: all keys together have too many sessions
                    MutableHeaders(raw=message["headers"]).setdefault("Retry-After", "1")
                elif named is not None and (status == 404 or (scope["method"] == "DELETE" and status < 400)):
                    held.sessions.pop(named, None)
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            if made is None:
                held.opening -= opens
            for one in (session, made):
                if one is not None:
                    one.requests -= 1
                    one.used_at = self._now()

    def _sessions(self, held: _KeyUsage) -> int:
        """The number of sessions, without expired ones."""
        since = self._now() - SESSION_IDLE_S
        for name in [name for name, one in held.sessions.items() if not one.requests and one.used_at < since]:
            del held.sessions[name]
        return len(held.sessions)

    def _may_open(self, scope: Scope) -> bool:
        if scope["path"] != self._path or scope["method"] != "POST":
            return False
        version = Headers(scope=scope).get(_VERSION)
        return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS

    def _first_end_s(self, held: _KeyUsage) -> float:
        """The seconds until the first session ends, if none of them gets a request."""
        now = self._now()
        ends = (now if one.requests else one.used_at for one in held.sessions.values())
        return max(SOON_S, min(ends, default=now) + SESSION_IDLE_S - now)

    def _too_many(self, words: str, most: int, wait_s: float) -> PlainTextResponse:
        return PlainTextResponse(words, 429, self._limit_headers(most, wait_s))
