"""What checks each address before a connection to a customer's host is made. Whoever sends there makes sockets by it.

Imports aiohttp, which takes 200 ms, so it is imported only when it is needed.
"""

import socket
from collections.abc import Sequence
from contextvars import ContextVar
from ipaddress import ip_address
from ssl import SSLContext
from typing import Any

import httpx2
from aiohttp.abc import AbstractResolver, ResolveResult

from callwright.contract.checks.address_ranges import Network, forbidden_range, is_opened
from callwright.service.platform.outgoing.names import Names
from callwright.service.platform.outgoing.progress import Progress

progress_of_this: ContextVar[Progress] = ContextVar("progress_of_this")


class ForbiddenAddress(OSError):
    """A host has an address to which nothing may be sent."""


class Guard:
    """Creates the sockets, and so checks every address before a connection, however the address was found."""

    def __init__(self, opened: Sequence[Network]) -> None:
        self._opened = opened

    def __call__(self, address_info: tuple[Any, ...]) -> socket.socket:
        """A socket for a resolved address. Raises `ForbiddenAddress`, upon which aiohttp tries the next address."""
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
        """Does nothing: there is nothing to close."""


def system_roots() -> SSLContext:
    """A TLS context that verifies certificates with the system's root certificates."""
    context = httpx2.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
