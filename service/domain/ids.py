"""Identifiers: a three-letter prefix that names the type, and 24 characters that say nothing else."""

import os
from collections.abc import Callable
from threading import Lock

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PAIRS = [first + second for first in ALPHABET for second in ALPHABET]
_TIME_LENGTH = 8
_CHANCE_LENGTH = 16
_CHANCE_RANGE = 62**_CHANCE_LENGTH
_BYTES_AT_ONCE = 1_024


def base62(number: int, length: int) -> str:
    """The number in digits and letters, padded to `length`, which is even; sorts like the number."""
    pairs: list[str] = []
    for _ in range(length // 2):
        number, remainder = divmod(number, 3_844)
        pairs.append(_PAIRS[remainder])
    pairs.reverse()
    return "".join(pairs)


class Chance:
    """Random integers that nobody can guess. Asking the system for each of them takes longer than all else about an id.

    Any thread may ask.
    """

    def __init__(self, source: Callable[[int], bytes] = os.urandom) -> None:
        self._source = source
        self._left = b""
        self._lock = Lock()

    def below(self, bound: int) -> int:
        """An integer from 0 up to and without `bound`. Eight bytes more than needed make every one as likely."""
        wanted = bound.bit_length() // 8 + 9
        with self._lock:
            if len(self._left) < wanted:
                self._left = self._source(max(_BYTES_AT_ONCE, wanted))
            taken, self._left = self._left[:wanted], self._left[wanted:]
        return int.from_bytes(taken, "big") % bound


class Ids:
    """Makes identifiers. They begin with the moment, so that new rows lie side by side in an index.

    `chance` gives a random integer below its argument; the default is the operating system's generator.
    """

    def __init__(self, now_ms: Callable[[], int], chance: Callable[[int], int] | None = None) -> None:
        self._now_ms = now_ms
        self._chance = chance or Chance().below

    def new(self, prefix: str) -> str:
        """An id such as `agt_` with 24 characters behind it."""
        return f"{prefix}_{base62(self._now_ms(), _TIME_LENGTH)}{base62(self._chance(_CHANCE_RANGE), _CHANCE_LENGTH)}"
