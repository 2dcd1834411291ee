"""The tokens that open a leg: to the page that talks in it, or to the carrier that has placed it. Only their hashes are
stored."""

from hashlib import sha256


def hash_of(token: str) -> str:
    """What is stored of a token."""
    return sha256(token.encode()).hexdigest()
