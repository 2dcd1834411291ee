"""The host names of the MCP server, as protection against DNS rebinding.

`Host` and `Origin` state the name that a browser used. A page that rebinds its own name to 127.0.0.1 sends that name,
and is refused. Source: the MCP specification, Streamable HTTP, "Security Warning".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address

from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Scope

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_NAME = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_LONGEST_ORIGIN = 300
"""The most characters of an origin: a scheme, a name and a port."""
UNNAMED = "MCP is not served here: start with --allowed-host NAME, the name by which clients reach this machine."


class BadHostName(ValueError):
    """A given name of this machine is not a host name."""


@dataclass(frozen=True)
class HostNames:
    """Names of this machine, each with any port unless it states one. Without names every request is refused."""

    names: tuple[str, ...]

    @cached_property
    def settings(self) -> TransportSecuritySettings:
        """The names in the form of the SDK's transports."""
        hosts = [spelled for name in self.names for spelled in _with_any_port(name)]
        return TransportSecuritySettings(
            allowed_hosts=hosts,
            allowed_origins=[f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts],
        )

    @cached_property
    def _check(self) -> TransportSecurityMiddleware:
        return TransportSecurityMiddleware(self.settings)

    async def refusal(self, scope: Scope) -> Response | None:
        """The answer to a refused request: 421 for a host, 403 for an origin, that is not among the names."""
        if not self.names:
            return PlainTextResponse(UNNAMED, 421)
        headers = Headers(scope=scope)
        if not _NAME.fullmatch(headers.get("host", "")):
            return PlainTextResponse("Invalid Host header", 421)  # the SDK accepts anything as a port
        if len(headers.get("origin", "")) > _LONGEST_ORIGIN:
            return PlainTextResponse("Invalid Origin header", 403)  # the SDK logs what it refuses
        return await self._check.validate_request(Request(scope))


def names_for(bound: str, allowed: Sequence[str] = ()) -> HostNames:
    """The names for a server bound to an address. One that listens on all addresses has none unless some are given.

    Raises:
        BadHostName: one of them is not a host name.
    """
    for name in allowed:
        if not _NAME.fullmatch(name):
            raise BadHostName(f"--allowed-host {name!r} is no name; write for example mcp.example.com")
    if _is_everywhere(bound):
        return HostNames((*_LOOPBACK, *allowed) if allowed else ())
    own = f"[{bound}]" if ":" in bound else bound
    return HostNames(tuple(dict.fromkeys((*_LOOPBACK, own, *allowed))))


def _is_everywhere(bound: str) -> bool:
    try:
        return not bound or ip_address(bound).is_unspecified
    except ValueError:
        return False


def _with_any_port(name: str) -> tuple[str, ...]:
    return (name,) if re.search(r":[0-9]+$", name) else (name, f"{name}:*")
