"""Values of many calls, such as how long each lasted, kept as one short text from which percentiles are read.

Up to `EXACT` values are kept as they are. Of more, each is rounded to six binary digits: within 1/64 of what it was.
A text is the words `value` or `value*count`, after the word `~` once they are rounded. Texts are joined by spaces.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from callwright.service.rules.percentiles import nearest_rank

EXACT = 32
"""So many values of one text are not rounded."""
_DIGITS = 6
_ROUNDED = "~"
_WORDS = 16_384
"""Words whose meaning is kept: rounded values are few, and occur again and again."""


def rounded(value: int) -> int:
    """The value, or the middle of the values that share its first six binary digits. Values are not negative."""
    dropped = value.bit_length() - _DIGITS
    return value if dropped <= 0 else (value >> dropped << dropped) + (1 << dropped >> 1)


def changed(text: str, added: Iterable[int], removed: Iterable[int] = ()) -> str:
    """The text with values added, and with others taken out that were added before."""
    values = Counter(_counted(text))
    is_rounded = text.startswith(_ROUNDED)
    values.update(map(rounded, added) if is_rounded else added)
    values.subtract(map(rounded, removed) if is_rounded else removed)
    if not is_rounded and values.total() > EXACT:
        is_rounded, exact = True, values
        values = Counter[int]()
        for value, count in exact.items():
            values[rounded(value)] += count
    words = [str(value) if count == 1 else f"{value}*{count}" for value, count in sorted(values.items()) if count]
    return " ".join([_ROUNDED, *words] if is_rounded and words else words)


def percentiles(text: str, percents: Sequence[int]) -> list[int]:
    """The percentiles of the values of texts joined by spaces, each by nearest rank. There is at least one value."""
    values = sorted(_counted(text).items())
    size = sum(count for _, count in values)
    found: list[int] = []
    for percent in percents:
        left = nearest_rank(size, percent)
        for value, count in values:
            left -= count
            if left <= 0:
                found.append(value)
                break
    return found


def _counted(text: str) -> dict[int, int]:
    """How often each value occurs. Equal words are counted first, which is what makes many texts quick to read."""
    values: dict[int, int] = {}
    for word, times in Counter(text.split()).items():
        if word != _ROUNDED:
            value, count = _read(word)
            values[value] = values.get(value, 0) + times * count
    return values


@lru_cache(_WORDS)
def _read(word: str) -> tuple[int, int]:
    value, _, count = word.partition("*")
    return int(value), int(count or 1)
