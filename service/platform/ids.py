"""Identifiers: a three-letter prefix that names the type, and 24 characters: the time and random digits."""

import os
from collections.abc import Callable
from threading import Lock

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PAIRS = [first + second for first in ALPHABET for second in ALPHABET]
_TIME_LENGTH = 8
_CHANCE_LENGTH = 16
_BYTES_AT_ONCE = 1_024
_EVEN = 248
"""The largest multiple of 62 in a byte. Bytes from it on are left out, so that all digits are equally likely."""
_DIGITS = bytes(ord(ALPHABET[value % 62]) for value in range(256))
_LEFT_OUT = bytes(range(_EVEN, 256))


def base62(number: int, length: int) -> str:
    """The number in digits and letters, padded to `length`, which is even; sorts like the number."""
    pairs: list[str] = []
    for _ in range(length // 2):
        number, remainder = divmod(number, 3_844)
        pairs.append(_PAIRS[remainder])
    pairs.reverse()
    return "".join(pairs)


def is_older(one: str, other: str) -> bool:
    """Whether an id was made before another one, to the millisecond and by the clocks of their processes."""
    begin = len("xxx_")
    return one[begin : begin + _TIME_LENGTH] < other[begin : begin + _TIME_LENGTH]


class Chance:
    """Random digits of base 62 that nobody can guess. They are read in blocks, because asking the system is slow.

    Any thread may use it.
    """

    def __init__(self, source: Callable[[int], bytes] = os.urandom) -> None:
        self._source = source
        self._left = ""
        self._lock = Lock()

    def digits(self, count: int) -> str:
        """The next `count` digits. No digit is returned twice."""
        with self._lock:
            while len(self._left) < count:
                self._left += self._source(_BYTES_AT_ONCE).translate(_DIGITS, _LEFT_OUT).decode("ascii")
            taken, self._left = self._left[:count], self._left[count:]
        return taken


class Ids:
    """Makes identifiers. They begin with the time, so that new rows are next to each other in an index.

    `chance` returns the requested number of random base-62 digits; the default uses the operating system's generator.
    """

    def __init__(self, now_ms: Callable[[], int], chance: Callable[[int], str] | None = None) -> None:
        self._now_ms = now_ms
        self._chance = chance or Chance().digits
        self._moment = (-1, "")

    def new(self, prefix: str) -> str:
        """A new id: the prefix, an underscore and 24 characters."""
        return f"{prefix}_{self._begin()}{self._chance(_CHANCE_LENGTH)}"

    def several(self, prefix: str, count: int) -> list[str]:
        """New ids of one moment. Made together they take a fraction of the time."""
        begin, digits = f"{prefix}_{self._begin()}", self._chance(_CHANCE_LENGTH * count)
        return [begin + digits[at : at + _CHANCE_LENGTH] for at in range(0, len(digits), _CHANCE_LENGTH)]

    def _begin(self) -> str:
        now_ms = self._now_ms()
        moment = self._moment
        if moment[0] != now_ms:
            self._moment = moment = (now_ms, base62(now_ms, _TIME_LENGTH))
        return moment[1]
