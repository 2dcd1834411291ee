"""What the INVITE of a caller says: where it comes from, which number is called, and who calls.

The stack's event of a caller has no called number and no address, so they are read from its record of messages.
"""

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

_SOURCE = re.compile(r"^RX \S+ (\S+):[0-9]+ ")
_REQUEST = re.compile(r"^INVITE (\S+) SIP/2\.0$")
_USER = re.compile(r"sips?:([^@;:>\s?]+)[^@>\s]*@|tel:([^;>\s]+)", re.IGNORECASE)
_IN_DIALOGUE = re.compile(r";\s*tag=", re.IGNORECASE)
_SHORT = {"i": "call-id", "t": "to", "f": "from"}
"""The short forms of headers (RFC 3261, 7.3.3)."""
_WITHHELD = ("", "anonymous", "restricted", "unavailable", "unknown", "withheld", "private")
_LONGEST = 100
"""Characters of what is read as a user."""


@dataclass(frozen=True)
class Invite:
    """A caller's INVITE."""

    sip_call_id: str
    source: str
    """The IP address that it came from."""
    called: tuple[str, ...]
    """The user of the request's address, of P-Called-Party-ID (RFC 7315) and of To, without those that repeat one."""
    caller: str = field(repr=False)
    """The user of P-Asserted-Identity (RFC 3325) or else of From; empty where the caller withholds it."""


def invite_in(record: str) -> Invite | None:
    """The caller's INVITE that a record of a message shows; None if it is none. One within a call is none either."""
    route, _, message = record.partition("\n")
    first, *lines = message.partition("\n\n")[0].split("\n")
    source, request = _SOURCE.match(route), _REQUEST.match(first)
    if source is None or request is None:
        return None
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        key = name.strip().lower()
        if colon:
            headers.setdefault(_SHORT.get(key, key), value.strip())
    call_id, to = headers.get("call-id", ""), headers.get("to", "")
    if not call_id or _IN_DIALOGUE.search(to):
        return None
    texts = (request[1], headers.get("p-called-party-id", ""), to)
    called = tuple(dict.fromkeys(user for text in texts for user in _users(text)))
    try:
        address = ipaddress.ip_address(source[1].strip("[]"))
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return Invite(call_id, str(mapped or address), called, _caller(headers))


def _caller(headers: dict[str, str]) -> str:
    if re.search(r"\b(?:id|user|header)\b", headers.get("privacy", ""), re.IGNORECASE):  # RFC 3323, RFC 3325
        return ""
    for name in ("p-asserted-identity", "from"):
        for user in _users(headers.get(name, "")):
            return "" if user.lower() in _WITHHELD else user
    return ""


def _users(text: str) -> Iterator[str]:
    """The user of an address, if it has one. A name before it may have anything in it, also what looks like one."""
    found = _USER.search(text[text.rfind("<") + 1 :])
    if found is not None:
        yield unquote(found[1] or found[2])[:_LONGEST]
