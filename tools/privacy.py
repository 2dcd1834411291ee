"""Telephone numbers of contacts without their middle, in text and in data alike.

The organization's own numbers stay whole, and so does what people say on a call: speech is not rewritten.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Any

from .text import masked

_BETWEEN = (
    r"[\s._()\[\]/\-\u00b7\u058a\u05be\u1806\u2010-\u2015\u2043\u2212\u2e3a\u2e3b\u301c\u3030"
    r"\ufe58\ufe63\uff0d\uff0e\uff0f]"
)
"""What people write between the digits of a number: blanks, dashes, dots, brackets, slashes, underscores."""
_WRITTEN = re.compile(
    rf"(?<![\d+\uff0b])(?:[+\uff0b]|(?<![\w.,])00){_BETWEEN}{{0,4}}\d(?:{_BETWEEN}{{0,4}}\d){{6,16}}(?!\d)"
)
"""An international number as people write it, anywhere in a text."""
_NATIONAL = re.compile(
    rf"(?<![\w.,+\-/\u2022])\(?(?!\d\d[./-]\d\d[./-](?:19|20)\d\d(?!\d))0(?![.,])(?:{_BETWEEN}{{0,4}}\d){{6,14}}(?!\d)"
)
"""A number with the zero that stands before an area code, anywhere in a text; no date."""
_LOCAL = re.compile(rf"\(?\d(?:{_BETWEEN}{{0,4}}\d){{6,14}}")
"""A number without its country, as the whole of a cell."""
_DIGITS = re.compile(rf"[+\uff0b]?\(?\d(?:{_BETWEEN}{{0,4}}\d){{4,}}")
"""Digits enough to call somebody, in a cell of a column of telephones."""
_ANY_DIGIT = re.compile(r"\d")
_ALONE = re.compile(r"\+\d{1,20}")
"""E.164 and nothing else, however short."""
_GROUPED = re.compile(
    r"(?<![\w.+])(?:\(\d{2,5}\) ?|\d{2,5}[ \-/\u2010-\u2015])\d{3,4}[ \-/.\u2010-\u2015]?\d{3,6}(?![\w.]\d|\d)"
    r"|(?<![\w.+])\d{3}\.\d{3}\.\d{4}(?!\d)|(?<![\w.+])\d{9,15}(?![\d.])"
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
    """The text with its numbers masked that have a country's sign or the zero of an area code.

    A cell of a column of telephones is masked in any notation. Digits elsewhere stay: they may be a customer's number,
    a date or an amount.
    """
    if not _ANY_DIGIT.search(text):
        return text
    if column is not None and _holds_telephones(column):
        return text if _DATE.fullmatch(text.strip()) else _DIGITS.sub(_hidden, text).strip()
    if _ALONE.fullmatch(text):
        return masked(text)
    return _NATIONAL.sub(_hidden, _WRITTEN.sub(_hidden, text))


def masked_everywhere(text: str) -> str:
    """The text with every number masked that may be a telephone's, also without its country."""
    if _DATE.fullmatch(text):
        return text
    if _LOCAL.fullmatch(text.strip()):
        return masked(_digits(text.strip()))
    return _GROUPED.sub(_hidden, masked_in(text))


def masked_number(value: Any, *, column: str) -> Any:
    """What JSON has beside text, with a number masked that a telephone may have: by its length, or by its column."""
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    length = len(str(abs(value)))
    telephone = 5 <= length <= 17 if _holds_telephones(column) else 10 <= length <= 15
    return masked(str(abs(value))) if telephone else value


@lru_cache(maxsize=4_096)
def _holds_telephones(column: str) -> bool:
    return _OF_TELEPHONES.search(column.replace("_", " ")) is not None


def _hidden(number: re.Match[str]) -> str:
    return masked(_digits(number[0]))


def _digits(text: str) -> str:
    """A number in one notation, with its plus and without the zero that is not dialled from abroad."""
    plain = unicodedata.normalize("NFKC", text)
    digits = re.sub(r"\D", "", plain.replace("(0)", "") if plain.startswith(("+", "00")) else plain)
    if plain.startswith("00"):
        return f"+{digits[2:]}"
    return f"+{digits}" if plain.startswith("+") else digits
