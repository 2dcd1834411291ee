"""Masks the middle of contacts' telephone numbers, in text and in data alike.

The organization's own numbers are not masked, and neither is what people say on a call.
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
"""A number without its country code, as the whole of a cell."""
_OF_A_CELL = 5
"""The fewest digits of a number in a cell of a telephone column."""
_OF_A_NAME = 9
"""The fewest digits of a number in the name of a column, with any characters between and before them."""
_ANY_DIGIT = re.compile(r"\d")
_SIX_DIGITS = re.compile(r"\d(?:\D{0,8}\d){5}")
_ALONE = re.compile(r"\+\d{1,20}")
"""E.164 and nothing else, however short."""
_GROUPED = re.compile(
    r"(?<![\w.+])(?:\(\d{2,5}\) ?|\d{2,5}[ \-/\u2010-\u2015])\d{3,4}[ \-/.\u2010-\u2015]?\d{3,6}(?![\w.]\d|\d)"
    r"|(?<![\w.+])\d{3}\.\d{3}\.\d{4}(?!\d)|(?<![\w+])(?<!\d\.)\d{9,15}(?![\d.])"
)
"""A number without its country code in a text: in groups, or too long for anything but a number."""
_DATE = re.compile(r"(?:\d{4}-\d\d-\d\d|\d\d?([./-])\d\d?\1\d{4})(?:[T ]\d\d?:\d\d[\d:.+Z-]*)?")
_OF_TELEPHONES = re.compile(
    r"phone|t[eé]l[eéè]f|mobil|m[oó]vil|cell|celular|handy|kontakt|contact|\btel\b|\btlf\b|\bfax\b|\bgsm\b|whatsapp|msisdn|handset"
    r"|r(?:ü|u|ue)ckruf|call ?back|rufnummer|телефон|電話|电话|手机",
    re.IGNORECASE,
)
"""Occurs in the names of columns with telephone numbers."""


def masked_in(text: str, *, column: str | None = None) -> str:
    """The text with numbers masked that have a country prefix, the zero of an area code, or a word such as `tel`.

    A cell of a telephone column is masked in any notation. Digits elsewhere stay: they may be a customer number, a date
    or an amount.
    """
    plain = as_plain(text)
    if _ALONE.fullmatch(plain):
        return masked(plain)
    if column is not None and is_of_telephones(column) and _ANY_DIGIT.search(plain):
        return text if _DATE.fullmatch(text.strip()) else _without(text, cell_numbers(text, fewest=_OF_A_CELL)).strip()
    return _without(text, numbers_of(text, national=True)) if may_hold_a_number(text) else text


def masked_international(text: str, *, but: Set[str] = frozenset()) -> str:
    """The text with numbers masked that have a country prefix or a word such as `tel`.

    This is for texts that an organization writes itself: names, reasons, summaries. Other digits in them are its own.
    Numbers in `but`, in E.164, are not masked.
    """
    return _without(text, numbers_of(text), but=but) if may_hold_a_number(text) else text


def may_hold_a_number(text: str) -> bool:
    """Whether a text has enough digits, close enough together, for a number that `masked_international` finds."""
    if _SIX_DIGITS.search(as_plain(text)) is not None:
        return True
    read = unescaped(text)
    return read is not None and _SIX_DIGITS.search(as_plain(read.text)) is not None


def numbers_in(text: str) -> list[str]:
    """The international numbers in a text, each as a plus sign and digits."""
    return [_digits(found.written) for found in numbers_of(text, labelled=False)]


def masked_all_possible(text: str) -> str:
    """The text with everything masked that may be a telephone number, also without a country code."""
    if _DATE.fullmatch(text):
        return text
    if _LOCAL.fullmatch(as_plain(text).strip()):
        return masked(_digits(as_plain(text).strip()))
    shown = masked_in(text)
    return _without(shown, also_escaped(shown, _grouped))


def masked_column(name: str) -> str:
    """The name of a column with every number masked. In a file without a header row it is a person's cell."""
    shown = masked_all_possible(name)
    return _without(shown, cell_numbers(shown, fewest=_OF_A_NAME))


def _grouped(text: str) -> Iterator[FoundNumber]:
    return (FoundNumber(*found.span(), found[0]) for found in _GROUPED.finditer(as_plain(text)))


def masked_single(text: str) -> str:
    """A text that is one number, in any notation, with its middle masked."""
    return masked(digits_of(text))


def digits_of(text: str) -> str:
    """The ASCII digits of a text that is one number, in any notation, with a plus sign if it has one."""
    return _digits(whole_number(text))


def numbers_hidden_in(text: str) -> list[str]:
    """The digits of the numbers in a text that `masked_international` masks."""
    return [_digits(found.written) for found in numbers_of(text)] if may_hold_a_number(text) else []


def masked_number(value: Any, *, column: str) -> Any:
    """A JSON value other than text, masked if its length or its column shows that it may be a telephone number."""
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    length = len(str(abs(value)))
    telephone = 5 <= length <= 17 if is_of_telephones(column) else 10 <= length <= 15
    return masked(str(abs(value))) if telephone else value


@lru_cache(maxsize=4_096)
def is_of_telephones(column: str) -> bool:
    """Whether the name of a column says that it holds telephone numbers."""
    return _OF_TELEPHONES.search(column.replace("_", " ")) is not None


def _without(text: str, numbers: Iterable[FoundNumber], *, but: Set[str] = frozenset()) -> str:
    """The text with the middle of these numbers masked; everything else is unchanged."""
    parts: list[str] = []
    end = 0
    for found in numbers:
        if (number := _digits(found.written)) not in but:
            parts += text[end : found.start], masked(number)
            end = found.end
    return "".join((*parts, text[end:])) if parts else text


def _digits(text: str) -> str:
    """A number as plain digits, with its plus sign and without the `(0)` that is not dialled from abroad."""
    digits = re.sub(r"[^0-9]", "", text.replace("(0)", "") if text.startswith(("+", "00")) else text)
    if text.startswith("00"):
        return f"+{digits[2:]}"
    return f"+{digits}" if text.startswith("+") else digits
