"""The check of a URL before anything is sent to it, so that a person gets the reason at once.

The addresses of a host name are not known here and may change. They are checked when a connection is made.
"""

import re
from collections.abc import Sequence
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import SplitResult, urlsplit

from callwright.contract.checks.address_ranges import LOOPBACK, Address, Network, forbidden_range, is_opened

MOST_CHARACTERS = 2_048
MOST_HOST_CHARACTERS = 253

_JOINERS = "\u200c\u200d"
"""Invisible characters that belong to names in some scripts; IDNA decides where they are allowed."""
_LABEL = re.compile(r"[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT = re.compile(r"[0-9]{1,5}")
_LOCAL_NAMES = ("local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa")
"""Endings that mean something only inside a network: RFC 6762 (appendix G), RFC 8375, and ICANN's `internal`."""
_OPENING = "For development, whoever runs the service opens a network: callwright serve --webhook-networks."


def check(url: str, *, opened: Sequence[Network] = (), sent: str = "Events") -> None:
    """Raises ValueError if nothing can be sent to a URL, with a sentence that says what is wrong and what to do.

    `opened` are the ranges that the operator opened: they are allowed, and plain HTTP reaches them alone. `sent` says
    what is sent there.
    """
    if len(url) > MOST_CHARACTERS:
        raise ValueError(f"The URL has {len(url):,} characters; give one of at most {MOST_CHARACTERS:,}.")
    if any((not character.isprintable() or character.isspace()) and character not in _JOINERS for character in url):
        raise ValueError("The URL has a white or control character in it; leave it out or write it percent-encoded.")
    if "\\" in url:
        raise ValueError("The URL has a backslash in it; write / instead, or %5C where a backslash is meant.")
    if "#" in url:
        raise ValueError("The URL has a fragment, which is never sent; leave out # and what follows.")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ValueError("The URL cannot be read; give one such as https://example.com/events.") from None
    _check_scheme(parts, opened, sent)
    if "@" in parts.netloc:
        raise ValueError("The URL has a user name or password in it; leave them out.")
    host, port = _host_and_port(parts.netloc)
    if port is not None and not (_PORT.fullmatch(port) and 1 <= int(port) <= 65_535):
        raise ValueError("The URL's port must be a number from 1 to 65535; correct it or leave out the colon.")
    if not host:
        raise ValueError("The URL names no host; give one such as https://example.com/events.")
    address = _ipv6(host) if host.startswith("[") else _address_or_name(host, opened)
    if address is not None:
        _check_address(address, parts.scheme, opened, sent)


def _check_scheme(parts: SplitResult, opened: Sequence[Network], sent: str) -> None:
    if parts.scheme == "https" or (parts.scheme == "http" and opened):
        return
    if parts.scheme == "http":
        raise ValueError(f"The URL must begin with https://; {sent.lower()} are not sent over plain HTTP. {_OPENING}")
    raise ValueError("The URL must begin with https://, for example https://example.com/events.")


def _host_and_port(netloc: str) -> tuple[str, str | None]:
    """The host as it is written, an IPv6 address in its brackets, and what follows the colon, if there is one."""
    bracket = netloc.rfind("]")
    host, colon, port = netloc[bracket + 1 :].partition(":")
    if bracket < 0:
        return host, port if colon else None
    if host or not netloc.startswith("["):
        raise ValueError("The URL's host cannot be read; only an IPv6 address stands in brackets, and all of it.")
    return netloc[: bracket + 1], port if colon else None


def _ipv6(host: str) -> IPv6Address:
    if "%" in host:
        raise ValueError("The URL's address names a zone (%), which means something on one machine only; leave it out.")
    try:
        return IPv6Address(host[1:-1])
    except AddressValueError:
        raise ValueError("The URL's host is in brackets and is no IPv6 address; correct it or give a name.") from None


def _address_or_name(written: str, opened: Sequence[Network]) -> IPv4Address | None:
    """The IPv4 address of a host, in any spelling that a resolver accepts; None for a name that is allowed."""
    if "%" in written:
        raise ValueError("The URL's host has a % in it; write the name as it is, without percent-encoding.")
    host = _ascii(written).removesuffix(".")
    labels = host.split(".")
    if len(host) > MOST_HOST_CHARACTERS or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("The URL's host is no valid name; give one such as example.com.")
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4(host, opened)
    _check_name(labels, opened)
    return None


def _ascii(host: str) -> str:
    """A host in the form used for look-ups. Raises ValueError for a name that IDNA (RFC 5891, UTS 46) forbids."""
    host = host.lower()
    if host.isascii() and "xn--" not in host:
        return host
    import idna  # its tables take 10 ms, and hardly any URL needs them

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise ValueError("The URL's host is no valid international name (IDNA); correct its spelling.") from None


def _ipv4(host: str, opened: Sequence[Network]) -> IPv4Address:
    """The address of a host that ends in a number, as inet_aton reads it. Only the plain spelling is allowed."""
    numbers = [_number(label) for label in host.split(".")]
    *bytes_before, last = numbers
    if len(numbers) > 4 or None in numbers or any(byte is None or byte > 255 for byte in bytes_before):
        raise ValueError("The URL's host ends in a number and is no IPv4 address; correct it or give a name.")
    room = 256 ** (5 - len(numbers))
    if last is None or last >= room:
        raise ValueError("The URL's host ends in a number and is no IPv4 address; correct it or give a name.")
    value = last
    for place, byte in enumerate(bytes_before):
        value += (byte or 0) << (24 - 8 * place)
    address = IPv4Address(value)
    if str(address) != host and forbidden_range(address, opened) is None:
        raise ValueError(f"The URL's host is an unusual spelling of an address; write it as {address}.")
    return address


def _number(label: str) -> int | None:
    """A part of an address: decimal, octal with a leading 0, hexadecimal with a leading 0x; None if it is none."""
    if not _NUMBER.fullmatch(label) or len(label) > 64:
        return None
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    if len(label) > 1 and label.startswith("0"):
        return int(label, 8) if set(label) <= set("01234567") else None
    return int(label)


def _check_name(labels: Sequence[str], opened: Sequence[Network]) -> None:
    name = ".".join(labels)
    if labels[-1] == "localhost":
        if not any(
            network.overlaps(loopback) for network in opened for loopback in LOOPBACK if _same(network, loopback)
        ):
            raise ValueError(
                f"{name} is this machine itself; give a host that can be reached from the internet. {_OPENING}"
            )
    elif not opened and len(labels) == 1:
        raise ValueError(
            f"{name} has no dot, so it is a name of a local network; give a whole name: {name}.example.com. {_OPENING}"
        )
    elif not opened and any(name == ending or name.endswith("." + ending) for ending in _LOCAL_NAMES):
        raise ValueError(
            f"{name} is a name of a local network; give a host that can be reached from the internet. {_OPENING}"
        )


def _same(one: Network, other: Network) -> bool:
    return one.version == other.version


def _check_address(address: Address, scheme: str, opened: Sequence[Network], sent: str) -> None:
    forbidden = forbidden_range(address, opened)
    if forbidden is not None:
        raise ValueError(
            f"{sent} are not sent to {forbidden}; give a host that can be reached from the internet. {_OPENING}"
        )
    if scheme == "http" and not is_opened(address, opened):
        raise ValueError("Plain HTTP is for opened ranges alone; the URL must begin with https://.")
