"""Addresses that are not the internet's: where the service sends nothing that a customer asks for, and where the client
opens nothing that an answer names.

Sources: the IANA special-purpose registries for IPv4 and IPv6 (RFC 6890), the multicast registries, and the clouds'
documented metadata addresses. The list is stricter than the registries: what is only partly global is refused whole.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LOOPBACK: tuple[Network, ...] = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))

_FORBIDDEN_IPV4 = tuple(
    (IPv4Network(text), name)
    for text, name in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by carriers"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "a cloud's host service"),
        ("169.254.0.0/16", "link-local and cloud metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "protocol assignments"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relays"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarks"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved and broadcast"),
    )
)
_GLOBAL_IPV6 = IPv6Network("2000::/3")
_FORBIDDEN_IPV6 = tuple(
    (IPv6Network(text), name)
    for text, name in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::/96", "IPv4-compatible"),
        ("::ffff:0:0:0/96", "IPv4-translated"),
        ("64:ff9b::/96", "NAT64"),
        ("64:ff9b:1::/48", "local NAT64"),
        ("100::/64", "discarded"),
        ("2001::/32", "Teredo"),
        ("2001::/23", "protocol assignments"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("3fff::/20", "documentation"),
        ("fc00::/7", "private and cloud metadata"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
        ("::/0", "the rest"),
    )
)


def is_opened(address: Address, opened: Sequence[Network]) -> bool:
    """Whether an address lies in one of the opened ranges. A mapped address (::ffff:a.b.c.d) is also its inner one."""
    inner = _inner(address)
    return any(address in network or inner in network for network in opened)


def forbidden_range(address: Address, opened: Sequence[Network] = ()) -> str | None:
    """The range that forbids an address, in words, for example `127.0.0.0/8 (loopback)`; None where it is allowed."""
    if is_opened(address, opened):
        return None
    judged = _inner(address)
    if isinstance(judged, IPv4Address):
        return next((f"{network} ({name})" for network, name in _FORBIDDEN_IPV4 if judged in network), None)
    found = next((network, name) for network, name in _FORBIDDEN_IPV6 if judged in network)
    if found[0].prefixlen == 0:
        return None if judged in _GLOBAL_IPV6 else f"a range that is not global (only {_GLOBAL_IPV6} is)"
    return f"{found[0]} ({found[1]})"


def _inner(address: Address) -> Address:
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
