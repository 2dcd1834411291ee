"""The names under which the tool server may be called, against pages that point a name of their own at this machine.

A browser tells in `Host` and `Origin` by which name it came. A page that has rebound its name to 127.0.0.1 comes by
that name, and is turned away. Source: the MCP specification, Streamable HTTP, "Security Warning".
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
"""Characters of an origin: a scheme, a name and a port."""
UNNAMED = "MCP is not served here: start with --allowed-host NAME, the name by which clients reach this machine."


class BadHostName(ValueError):
    """What was given as a name of this machine is none."""


@dataclass(frozen=True)
class HostNames:
    """Names of this machine, each with any port unless it states one. Nobody is let in where there are none."""

    names: tuple[str, ...]

    @cached_property
    def settings(self) -> TransportSecuritySettings:
        """The names as the SDK's transports take them."""
        hosts = [spelled for name in self.names for spelled in _with_any_port(name)]
        return TransportSecuritySettings(
            allowed_hosts=hosts,
            allowed_origins=[f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts],
        )

    @cached_property
    def _check(self) -> TransportSecurityMiddleware:
        return TransportSecurityMiddleware(self.settings)

    async def refusal(self, scope: Scope) -> Response | None:
        """Why a request is turned away: 421 for a host, 403 for an origin that is not among the names."""
        if not self.names:
            return PlainTextResponse(UNNAMED, 421)
        headers = Headers(scope=scope)
        if not _NAME.fullmatch(headers.get("host", "")):
            return PlainTextResponse("Invalid Host header", 421)  # what the SDK takes for a port may be anything
        if len(headers.get("origin", "")) > _LONGEST_ORIGIN:
            return PlainTextResponse("Invalid Origin header", 403)  # the SDK logs what it refuses
        return await self._check.validate_request(Request(scope))


def names_for(bound: str, allowed: Sequence[str] = ()) -> HostNames:
    """The names for a server bound to an address. One that listens everywhere has those alone that are given.

    Raises:
        BadHostName: one of them is no name.
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
