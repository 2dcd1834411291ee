"""HTTP sessions to endpoints. Each subscription has its own, so that no two share a connection; all check addresses.

Imports aiohttp, which takes 200 ms, so it is imported only when it is needed.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from ssl import SSLContext
from types import SimpleNamespace
from typing import Any

import anyio
from aiohttp import (
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
    TraceConfig,
    TraceConnectionCreateEndParams,
    TraceConnectionReuseconnParams,
)

from callwright.contract.checks.address_ranges import Network
from callwright.service.platform.outgoing.guard import Guard, Resolver
from callwright.service.platform.outgoing.names import Names

MOST_SESSIONS = 256
"""The most subscriptions whose connections are kept."""
CLOSE_LIMIT_S = 1.0
"""How long closing the connections of a session may take."""
_MOST_HEADERS = 64
"""The most headers of an answer."""

_NO_LIMITS = ClientTimeout(total=None, sock_connect=None)
"""The sender has its own deadline."""


@dataclass(eq=False, slots=True)
class EndpointSession:
    """The session of one subscription, used while the subscription has this URL."""

    url: str
    http: ClientSession
    used: int = 0
    most_used: int = 0
    """The most requests at a time so far, which is the number of connections that may be kept."""
    retired: bool = False
    """Whether the session is closed as soon as no request uses it."""


class Sessions:
    """The sessions of all subscriptions. About `2 * most` connections are kept; beyond that the oldest are closed."""

    def __init__(self, *, opened: Sequence[Network], names: Names, most: int, tls: SSLContext, kept_s: float) -> None:
        self._most, self._tls, self._kept_s = most, tls, kept_s
        self._guard, self._resolver = Guard(opened), Resolver(names)
        self._sessions: OrderedDict[str, EndpointSession] = OrderedDict()
        self._kept = 0
        self._stages = TraceConfig()
        self._stages.on_connection_create_end.append(_on_made)
        self._stages.on_connection_reuseconn.append(_on_reused)
        self.unkept = self._session(TCPConnector(force_close=True, **self._connecting))
        """A session that sends each request over a new connection."""

    @property
    def _connecting(self) -> dict[str, Any]:
        return {
            "ssl": self._tls,
            "resolver": self._resolver,
            "use_dns_cache": False,
            "socket_factory": self._guard,
            "limit": 0,  # the requests are counted
        }

    def _session(self, connector: TCPConnector) -> ClientSession:
        return ClientSession(
            connector=connector,
            cookie_jar=DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            timeout=_NO_LIMITS,
            max_headers=_MOST_HEADERS,
            trace_configs=[self._stages],
        )

    async def take(self, subscription: str, url: str) -> EndpointSession:
        """The session of a subscription, to be given back. Connections to an earlier URL are not kept."""
        # After each wait another request may have made the new session.
        while (session := self._sessions.get(subscription)) is not None and session.url != url:
            await self._retire(subscription)
        if session is None:
            http = self._session(TCPConnector(keepalive_timeout=self._kept_s, **self._connecting))
            session = self._sessions[subscription] = EndpointSession(url, http)
        else:
            self._sessions.move_to_end(subscription)
        session.used += 1
        if session.used > session.most_used:
            session.most_used += 1
            self._kept += 1
        return session

    async def give_back(self, session: EndpointSession) -> None:
        """Ends the use of a session; retires the oldest sessions if there are too many connections."""
        session.used -= 1
        while len(self._sessions) > MOST_SESSIONS or (self._kept > 2 * self._most and len(self._sessions) > 1):
            await self._retire(next(iter(self._sessions)))
        if session.retired and not session.used:
            await _close(session.http)

    async def _retire(self, subscription: str) -> None:
        session = self._sessions.pop(subscription)
        session.retired = True
        self._kept -= session.most_used
        if not session.used:
            await _close(session.http)

    async def close(self) -> None:
        for session in (self.unkept, *(kept.http for kept in self._sessions.values())):
            await _close(session)
        self._sessions.clear()


async def _on_made(_: ClientSession, context: SimpleNamespace, __: TraceConnectionCreateEndParams) -> None:
    context.trace_request_ctx.stage = "answer"


async def _on_reused(_: ClientSession, context: SimpleNamespace, __: TraceConnectionReuseconnParams) -> None:
    context.trace_request_ctx.stage, context.trace_request_ctx.reused = "answer", True


async def _close(session: ClientSession) -> None:
    with anyio.move_on_after(CLOSE_LIMIT_S, shield=True):  # short: nothing is said to the other end
        await session.close()
