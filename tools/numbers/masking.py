"""Telephone numbers of contacts without their middle, in text and in data alike.

The organization's own numbers stay whole, and so does what people say on a call: speech is not rewritten.
"""

import re
from collections.abc import Iterable, Iterator, Set
from functools import lru_cache
from typing import Any

from callwright.tools.numbers.escapes import FoundNumber, also_escaped, unescaped
from callwright.tools.numbers.number_notation import BETWEEN, cell_numbers, numbers_of
from callwright.tools.numbers.plain_digits import as_plain, whole_number
from callwright.tools.wording.text import masked

_LOCAL = re.compile(rf"\(?\d(?:{BETWEEN}{{0,8}}\d){{6,14}}")
"""A number without its country, as the whole of a cell."""
_OF_A_CELL = 5
"""Digits enough to call somebody, in a cell of a column of telephones."""
_OF_A_NAME = 9
"""Digits, with whatever stands between and before them, that are a number in the name of a column."""
_ANY_DIGIT = re.compile(r"\d")
_SIX_DIGITS = re.compile(r"\d(?:\D{0,8}\d){5}")
_ALONE = re.compile(r"\+\d{1,20}")
"""E.164 and nothing else, however short."""
_GROUPED = re.compile(
    r"(?<![\w.+])(?:\(\d{2,5}\) ?|\d{2,5}[ \-/\u2010-\u2015])\d{3,4}[ \-/.\u2010-\u2015]?\d{3,6}(?![\w.]\d|\d)"
    r"|(?<![\w.+])\d{3}\.\d{3}\.\d{4}(?!\d)|(?<![\w+])(?<!\d\.)\d{9,15}(?![\d.])"
)
"""A number without its country in a text: in groups as people write it, or too long for anything but a number."""
_DATE = re.compile(r"(?:\d{4}-\d\d-\d\d|\d\d?([./-])\d\d?\1\d{4})(?:[T ]\d\d?:\d\d[\d:.+Z-]*)?")
_OF_TELEPHONES = re.compile(
    r"phone|t[eé]l[eéè]f|mobil|m[oó]vil|cell|celular|handy|kontakt|contact|\btel\b|\btlf\b|\bfax\b|\bgsm\b|whatsapp|msisdn|handset"
    r"|r(?:ü|u|ue)ckruf|call ?back|rufnummer|телефон|電話|电话|手机",
    re.IGNORECASE,
)
"""What the name of a column of telephone numbers has in it."""


def masked_in(text: str, *, column: str | None = None) -> str:
    """The text with its numbers masked that have a country's sign, the zero of an area code, or a word such as `tel`.

    A cell of a column of telephones is masked in any notation. Digits elsewhere stay: they may be a customer's number,
    a date or an amount.
    """
    plain = as_plain(text)
    if _ALONE.fullmatch(plain):
        return masked(plain)
    if column is not None and is_of_telephones(column) and _ANY_DIGIT.search(plain):
        return text if _DATE.fullmatch(text.strip()) else _without(text, cell_numbers(text, fewest=_OF_A_CELL)).strip()
    return _without(text, numbers_of(text, national=True)) if may_hold_a_number(text) else text


def masked_abroad(text: str, *, but: Set[str] = frozenset()) -> str:
    """The text with its numbers masked that have a country's sign or a word such as `tel`.

    This is for what an organization writes itself: names, reasons, summaries. Other digits in them are its own.
    Numbers of `but`, in E.164, stay as they are written.
    """
    return _without(text, numbers_of(text), but=but) if may_hold_a_number(text) else text


def may_hold_a_number(text: str) -> bool:
    """Whether there are digits enough in a text, and near enough to each other, for what `masked_abroad` finds."""
    if _SIX_DIGITS.search(as_plain(text)) is not None:
        return True
    read = unescaped(text)
    return read is not None and _SIX_DIGITS.search(as_plain(read.text)) is not None


def numbers_in(text: str) -> list[str]:
    """The international numbers in a text, with a plus and digits alone."""
    return [_digits(found.written) for found in numbers_of(text, labelled=False)]


def masked_everywhere(text: str) -> str:
    """The text with every number masked that may be a telephone's, also without its country."""
    if _DATE.fullmatch(text):
        return text
    if _LOCAL.fullmatch(as_plain(text).strip()):
        return masked(_digits(as_plain(text).strip()))
    shown = masked_in(text)
    return _without(shown, also_escaped(shown, _grouped))


def masked_column(name: str) -> str:
    """The name of a column with every number masked. A file without a header row has somebody's cells there."""
    shown = masked_everywhere(name)
    return _without(shown, cell_numbers(shown, fewest=_OF_A_NAME))


def _grouped(text: str) -> Iterator[FoundNumber]:
    return (FoundNumber(*found.span(), found[0]) for found in _GROUPED.finditer(as_plain(text)))


def masked_whole(text: str) -> str:
    """A text that is one number, in whatever notation, without its middle."""
    return masked(digits_of(text))


def digits_of(text: str) -> str:
    """The digits of a text that is one number, in whatever notation, in ASCII and behind a plus where it has one."""
    return _digits(whole_number(text))


def numbers_hidden_in(text: str) -> list[str]:
    """The digits of those numbers in a text that `masked_abroad` hides."""
    return [_digits(found.written) for found in numbers_of(text)] if may_hold_a_number(text) else []


def masked_number(value: Any, *, column: str) -> Any:
    """What JSON has beside text, with a number masked that a telephone may have: by its length, or by its column."""
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    length = len(str(abs(value)))
    telephone = 5 <= length <= 17 if is_of_telephones(column) else 10 <= length <= 15
    return masked(str(abs(value))) if telephone else value


@lru_cache(maxsize=4_096)
def is_of_telephones(column: str) -> bool:
    """Whether the name of a column says that telephone numbers stand in it."""
    return _OF_TELEPHONES.search(column.replace("_", " ")) is not None


def _without(text: str, numbers: Iterable[FoundNumber], *, but: Set[str] = frozenset()) -> str:
    """The text without the middle of those numbers; everything else stays as it is written."""
    parts: list[str] = []
    end = 0
    for found in numbers:
        if (number := _digits(found.written)) not in but:
            parts += text[end : found.start], masked(number)
            end = found.end
    return "".join((*parts, text[end:])) if parts else text


def _digits(text: str) -> str:
    """A number in one notation, with its plus and without the zero that is not dialled from abroad."""
    digits = re.sub(r"[^0-9]", "", text.replace("(0)", "") if text.startswith(("+", "00")) else text)
    if text.startswith("00"):
        return f"+{digits[2:]}"
    return f"+{digits}" if text.startswith("+") else digits
