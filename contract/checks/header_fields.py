"""Header fields that a caller may name for a request of ours (RFC 9110, sections 5.1 and 5.5)."""

import re

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS = frozenset(
    {
        *("host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer"),
        *("expect", "proxy-authorization", "proxy-connection", "cookie", "accept-encoding"),
    }
)
"""Fields that decide how the request travels."""


def header_name(name: str) -> str:
    """The name itself. Raises ValueError, with words that follow its place, for one that cannot be given."""
    if not _TOKEN.fullmatch(name):
        raise ValueError("must be the name of a header: letters, digits and -")
    if name.lower() in _OURS:
        raise ValueError(f"must not be {name}, which is set by the service itself")
    return name


def header_value(value: str) -> str:
    """The value itself. Raises ValueError for what would end the header, or is no text of one."""
    if any(not " " <= char <= "~" for char in value) or value != value.strip():
        raise ValueError("must be printable ASCII on one line, without blanks at its ends")
    return value
