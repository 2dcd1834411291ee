"""Connections to endpoints: guarded where they are made, kept for some seconds, never shared by two subscriptions.

Imports aiohttp, which takes 200 ms; so this module is imported when it is needed.
"""

import asyncio
import socket
from collections import OrderedDict, deque
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from ipaddress import ip_address
from ssl import SSLContext
from typing import Any

import anyio
import httpx2
from aiohttp import ClientRequest, ClientTimeout, InvalidURL, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from yarl import URL

from callwright.contract.checks.address_ranges import Network, forbidden_range, is_opened
from callwright.service.webhooks.transport.attempts import Progress
from callwright.service.webhooks.transport.names import Names

KEPT_S = 4.0
"""How long a connection is kept when nothing is sent over it: less than the five seconds of many servers."""
MOST_POOLS = 256
"""Subscriptions whose connections are kept."""

_NO_LIMITS = ClientTimeout(total=None, sock_connect=None)
"""The time is kept by whoever sends."""

progress_of_this: ContextVar[Progress] = ContextVar("progress_of_this")


class ForbiddenAddress(OSError):
    """A name leads to an address to which nothing is sent."""


class Guard:
    """Makes the sockets, and so has the last word about every address that is connected to, however it was found."""

    def __init__(self, opened: Sequence[Network]) -> None:
        self._opened = opened

    def __call__(self, address_info: tuple[Any, ...]) -> socket.socket:
        """A socket for a resolved address. Raises `ForbiddenAddress`, which makes aiohttp go on to the next one."""
        family, kind, protocol, _, where = address_info
        progress = progress_of_this.get()
        address = ip_address(where[0])
        if progress.plain:
            refused = None if is_opened(address, self._opened) else "an address where plain HTTP is not allowed"
        else:
            refused = forbidden_range(address, self._opened)
        if refused is not None:
            progress.refused = refused
            raise ForbiddenAddress(refused)
        progress.tried, progress.stage = True, "connect"
        return socket.socket(family, kind, protocol)


class Resolver(AbstractResolver):
    """Looks names up for aiohttp."""

    def __init__(self, names: Names) -> None:
        self._names = names

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of a host. Raises OSError."""
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for address in await self._names.addresses(host)
        ]

    async def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a URL says about every request to it."""

    url: str
    request: ClientRequest
    """By which aiohttp connects; it is never sent."""
    head: str
    """The first lines of a request."""
    plain: bool
    """Over HTTP without TLS."""


@dataclass(eq=False, slots=True)
class Pool:
    """The connections of one subscription, all to the same target."""

    target: Target | None = None
    kept: deque[tuple[Connection, float]] = field(default_factory=deque[tuple[Connection, float]])
    """Those that are not in use, and since when; the longest unused first."""
    used: int = 0
    most_used: int = 0
    """The most requests at a time: as many connections may be there."""
    retired: bool = False
    ageing: asyncio.TimerHandle | None = None
    """Closes what was kept for long enough."""


class Connections:
    """The connections of all subscriptions. Beside those in use about `2 * most` are kept; the longest unused go.

    aiohttp makes the connections and reads answers; the keeping is done here, so that no two subscriptions share one.
    """

    def __init__(self, *, opened: Sequence[Network], names: Names, most: int, tls: SSLContext) -> None:
        self.loop = asyncio.get_running_loop()
        self._most = most
        self._pools: OrderedDict[str, Pool] = OrderedDict()
        self._kept = 0
        self._connector = TCPConnector(
            ssl=tls,
            resolver=Resolver(names),
            use_dns_cache=False,
            socket_factory=Guard(opened),
            limit=0,  # the requests are counted
            force_close=True,
        )

    def take(self, subscription: str) -> Pool:
        """The connections that were kept for a subscription. Must be given back."""
        pool = self._pools.get(subscription)
        if pool is None:
            pool = self._pools[subscription] = Pool()
        else:
            self._pools.move_to_end(subscription)
        pool.used += 1
        if pool.used > pool.most_used:
            pool.most_used += 1
            self._kept += 1
        return pool

    def give_back(self, pool: Pool) -> None:
        """Ends the use of a pool; closes what others have kept where there are too many connections."""
        pool.used -= 1
        while len(self._pools) > MOST_POOLS or (self._kept > 2 * self._most and len(self._pools) > 1):
            oldest = self._pools.popitem(last=False)[1]
            oldest.retired = True
            self._kept -= oldest.most_used
            _empty(oldest)

    def target(self, pool: Pool | None, url: str) -> Target:
        """Where a URL leads. Raises `InvalidURL`. A pool keeps no connection of an earlier URL."""
        if pool is None:
            return self._target(url)
        if pool.target is None or pool.target.url != url:
            _empty(pool)
            pool.target = self._target(url)
        return pool.target

    def _target(self, url: str) -> Target:
        try:
            found = URL(url)
        except ValueError as error:
            raise InvalidURL(url) from error
        if found.scheme not in ("http", "https"):
            raise InvalidURL(url)
        request = ClientRequest("POST", found, loop=self.loop)
        line = f"POST {request.url.raw_path_qs} HTTP/1.1\r\nHost: {request.headers['Host']}\r\n"
        return Target(url, request, line, plain=found.scheme == "http")

    def kept(self, pool: Pool) -> Connection | None:
        """A connection that was kept for a subscription and seems to be good still."""
        youngest_s = self.loop.time() - KEPT_S
        while pool.kept:
            connection, since_s = pool.kept.pop()
            protocol = connection.protocol
            if since_s >= youngest_s and protocol is not None and _is_good(protocol):
                return connection
            connection.close()
        return None

    async def made(self, target: Target, progress: Progress) -> Connection:
        """A new connection. Raises what aiohttp raises."""
        progress_of_this.set(progress)
        connection = await self._connector.connect(target.request, [], _NO_LIMITS)
        progress.stage = "answer"
        return connection

    def keep(self, pool: Pool, target: Target, connection: Connection) -> None:
        """Keeps a connection whose last answer was read to its end, or closes it."""
        protocol = connection.protocol
        if pool.retired or pool.target is not target or protocol is None or not _is_good(protocol):
            connection.close()
            return
        pool.kept.append((connection, self.loop.time()))
        if pool.ageing is None:
            pool.ageing = self.loop.call_later(KEPT_S, self._age, pool)

    def _age(self, pool: Pool) -> None:
        oldest_s = self.loop.time() - KEPT_S
        while pool.kept and pool.kept[0][1] <= oldest_s:
            pool.kept.popleft()[0].close()
        pool.ageing = self.loop.call_at(pool.kept[0][1] + KEPT_S, self._age, pool) if pool.kept else None

    async def close(self) -> None:
        """Closes all connections at once."""
        with anyio.CancelScope(shield=True):  # short: nothing is said to the other end
            await self._connector.close()
        for pool in self._pools.values():
            pool.retired = True
            _empty(pool)
        self._pools.clear()


def _is_good(protocol: ResponseHandler) -> bool:
    return protocol.is_connected() and not protocol.should_close


def _empty(pool: Pool) -> None:
    while pool.kept:
        pool.kept.pop()[0].close()
    if pool.ageing is not None:
        pool.ageing.cancel()
        pool.ageing = None


def system_roots() -> SSLContext:
    """Verifies certificates with the roots of the system."""
    context = httpx2.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
