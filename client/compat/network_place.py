"""Classifies IP addresses: public, in a private network, on this machine. Pure rules, and a look-up of hosts."""

import socket
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Literal

import anyio

from callwright.contract.checks.address_ranges import forbidden_range

Place = Literal["public", "private", "loopback", "link-local", "reserved"]
Resolve = Callable[[str, int], Awaitable[list[str]]]
"""The IP addresses of a host. Raises OSError where there is none."""

_NAT64 = IPv6Network("64:ff9b::/96")
_LONGEST_NAME = 253


async def resolved(host: str, port: int) -> list[str]:
    """The IP addresses of a host, each once, by the system's look-up. Raises OSError."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))


def place_of(address: str) -> Place:
    """The kind of network an IP address is in. `public`: the service would send to it
    (`contract.checks.address_ranges`).

    An address with an IPv4 address inside is where the inner one is, if that is not public. An IPv4-mapped or NAT64
    address always is: in a network with IPv6 alone, every IPv4 host has a NAT64 address.

    Raises:
        ValueError: it is not an IP address.
    """
    found = ip_address(address)
    if isinstance(found, IPv6Address) and (inner := _carried(found)) is not None:
        place = place_of(str(inner))
        if place != "public" or found.ipv4_mapped is not None or found in _NAT64:
            return place
    if found.is_loopback:
        return "loopback"
    if found.is_link_local:
        return "link-local"
    if found.is_multicast or found.is_unspecified or found.is_reserved:
        return "reserved"
    return "public" if forbidden_range(found) is None else "private"


def _carried(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address inside an IPv4-mapped, NAT64, 6to4 or Teredo address. Sources: RFC 4291, 6052, 3056, 4380."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address.sixtofour is not None:
        return address.sixtofour
    return address.teredo[1] if address.teredo is not None else None


async def places_of(host: str, port: int, resolve: Resolve) -> dict[str, Place]:
    """The IP addresses of a host with the place of each.

    Raises:
        OSError: the host has none.
    """
    try:
        return {host: place_of(host)}
    except ValueError:
        if not 0 < len(host) <= _LONGEST_NAME:
            raise OSError("no such host") from None
        return {address: place_of(address) for address in await resolve(host, port)}
