"""Repeatable random numbers: the same key gives the same draws in every process and every version of Python."""

import math
import struct
from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")

_WORDS = 16
_BLOCK = struct.Struct("<16I")
_COUNTER = struct.Struct("<Q")
_UNIT = 1 / 2**32


def key_of(*parts: str) -> bytes:
    """A hash of 32 bytes of the parts. It includes their lengths, so that different lists have different hashes."""
    digest = blake2b(digest_size=32)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(_COUNTER.pack(len(encoded)))
        digest.update(encoded)
    return digest.digest()


class Chance:
    """Draws from blake2b over a counter, 16 per block. Use one `stream` for each purpose, to keep them independent."""

    __slots__ = ("_at", "_counter", "_key", "_words")

    def __init__(self, key: bytes, stream: str) -> None:
        self._key = key + stream.encode()
        self._counter = 0
        self._at = _WORDS
        self._words: tuple[int, ...] = ()

    def unit(self) -> float:
        """A number of at least 0 and below 1."""
        at = self._at
        if at == _WORDS:
            block = blake2b(self._key + _COUNTER.pack(self._counter)).digest()
            self._words = _BLOCK.unpack(block)
            self._counter += 1
            at = 0
        self._at = at + 1
        return self._words[at] * _UNIT

    def happens(self, probability: float) -> bool:
        """True with this probability. Always draws once, so that a probability of 0 or 1 does not shift later draws."""
        return self.unit() < probability

    def between(self, low: float, high: float) -> float:
        """A number from `low` to `high`, evenly distributed."""
        return low + (high - low) * self.unit()

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices, which must not be empty."""
        return choices[int(self.unit() * len(choices))]

    def weighted(self, choices: Sequence[tuple[T, float]]) -> T:
        """One of the choices, as often as its weight says; weights need not sum to 1."""
        left = self.unit() * sum(weight for _, weight in choices)
        for choice, weight in choices:
            left -= weight
            if left < 0:
                return choice
        return choices[-1][0]

    def log_normal(self, median: float, spread: float) -> float:
        """Approximately log-normal and bounded: `spread` is the standard deviation of the logarithm."""
        # The sum of four even draws is close to a normal distribution, and is bounded.
        bell = (self.unit() + self.unit() + self.unit() + self.unit() - 2.0) * 1.732
        return median * math.exp(spread * bell)
