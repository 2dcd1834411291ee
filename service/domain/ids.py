"""Identifiers: a three-letter prefix that names the type, and 24 characters that say nothing else."""

import secrets
from collections.abc import Callable

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TIME_LENGTH = 8
_CHANCE_LENGTH = 16
_CHANCE_RANGE = 62**_CHANCE_LENGTH


def base62(number: int, length: int) -> str:
    """The number in digits and letters, padded to `length`; sorts like the number."""
    digits: list[str] = []
    for _ in range(length):
        number, remainder = divmod(number, 62)
        digits.append(ALPHABET[remainder])
    return "".join(reversed(digits))


class Ids:
    """Makes identifiers. They begin with the moment, so that new rows lie side by side in an index.

    `chance` gives a random integer below its argument; the default is the operating system's generator.
    """

    def __init__(self, now_ms: Callable[[], int], chance: Callable[[int], int] = secrets.randbelow) -> None:
        self._now_ms = now_ms
        self._chance = chance

    def new(self, prefix: str) -> str:
        """An id such as `agt_` with 24 characters behind it."""
        return f"{prefix}_{base62(self._now_ms(), _TIME_LENGTH)}{base62(self._chance(_CHANCE_RANGE), _CHANCE_LENGTH)}"
