"""Texts that are alike, kept short on SQLite: compressed with a dictionary of what most of them contain.

Postgres compresses long values by itself and keeps them as they are.
"""

import zlib
from functools import cached_property
from typing import Any

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

_WINDOW_BITS = -13
"""Without a header, and a window of 8 kB: more memory would take longer to prepare than a short text to compress."""
_MEMORY = 4
_LEVEL = 6
MOST_DICTIONARIES = 256


class PackedText(TypeDecorator[str]):
    """A text, compressed on SQLite where that makes it shorter. A text that was stored before stays readable.

    `dictionaries` are texts with what the column's texts have in common, the most frequent at the end. The last one is
    used; stored texts name theirs by its place, so one that was in use is neither changed nor taken away. No condition
    of a statement can look into such a text.
    """

    impl = Text
    cache_ok = True

    def __init__(self, *dictionaries: str) -> None:
        super().__init__()
        if not 0 < len(dictionaries) <= MOST_DICTIONARIES:
            raise ValueError(f"a packed text has from 1 to {MOST_DICTIONARIES} dictionaries")
        self.dictionaries = dictionaries

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """The value as it is stored."""
        return value if value is None or dialect.name != "sqlite" else self.packed(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """The text of a stored value."""
        return self.unpacked(value) if isinstance(value, bytes) else value

    def packed(self, text: str) -> str | bytes:
        """The text in fewer bytes, or as it is."""
        plain = text.encode(errors="surrogatepass")
        prepared = self._prepared.copy()
        short = bytes([len(self.dictionaries) - 1]) + prepared.compress(plain) + prepared.flush()
        return short if len(short) < len(plain) else text

    def unpacked(self, stored: bytes) -> str:
        """The text of what `packed` made."""
        reader = zlib.decompressobj(_WINDOW_BITS, zdict=self._encoded[stored[0]])
        return reader.decompress(stored[1:]).decode(errors="surrogatepass")

    @cached_property
    def _encoded(self) -> list[bytes]:
        return [one.encode() for one in self.dictionaries]

    @cached_property
    def _prepared(self) -> Any:
        return zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW_BITS, _MEMORY, zdict=self._encoded[-1])
