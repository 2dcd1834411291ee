"""The tokens that open a leg: to the page that talks in it, or to the carrier that has placed it. Only their hashes are
stored."""

import re
from hashlib import sha256

_CALL_ID = re.compile(r"[A-Za-z0-9_]{1,64}")


def is_call_id(text: str) -> bool:
    """Whether a text from an address may be the id of a call. No database is asked for others: some cannot be sent."""
    return _CALL_ID.fullmatch(text) is not None


def hash_of(token: str) -> str:
    """What is stored of a token."""
    return sha256(token.encode()).hexdigest()
