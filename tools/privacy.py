"""Telephone numbers of contacts without their middle, in text and in data alike.

The organization's own numbers stay whole, and so does what people say on a call: speech is not rewritten.
"""

import re
import unicodedata
from collections.abc import Set
from functools import lru_cache
from typing import Any

from .text import masked

_BETWEEN = (
    r"[\s._()\[\]/\-\u00b7\u058a\u05be\u1806\u2010-\u2015\u2043\u2212\u2e3a\u2e3b\u301c\u3030"
    r"\ufe58\ufe63\uff0d\uff0e\uff0f"
    r"\u00ad\u0300-\u036f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\ufe00-\ufe0f\ufeff]"
)
"""What people write between the digits of a number: blanks, dashes, dots, brackets, slashes, underscores; and what is
not seen there, or drawn over a digit.
"""
_PLUS = r"(?:(?<![\d+])\+|(?<=\+)\+(?=\d)|(?<=\d)\+(?=[1-9]\d{7,14}(?!\d))|%2[Bb])"
_SIGN = rf"(?:{_PLUS}|(?<![\w.,])(?<![0-9A-Fa-f]-)00)"
"""What says that a country follows: a plus, also as an address on the web has it, or two zeros outside of ids."""
_OF_A_COUNTRY = rf"(?<!UTC)(?<!GMT){_PLUS}{_BETWEEN}{{0,8}}(?=[1-9])\d"
_ODD = r"(?:(?!\u2022{3})[^\w+\s]|_){1,8}"
_NO_LETTER = r"(?:(?!\u2022{3})[^\w+]|_){0,8}"
"""What people do not usually write within a number; not the dots of one that is masked already."""
_WRITTEN = re.compile(
    rf"{_OF_A_COUNTRY}(?>(?:{_BETWEEN}{{0,8}}(?=\d)|{_ODD})\d){{7,14}}(?!\d)"
    rf"|{_OF_A_COUNTRY}(?:{_NO_LETTER}\d){{7,14}}(?!\d)"
    rf"|{_SIGN}{_BETWEEN}{{0,8}}\d(?:{_BETWEEN}{{0,8}}\d){{6,16}}(?!\d)"
)
"""An international number, anywhere in a text. Behind a plus anything but a letter may stand between its digits. What
people do not usually write between them ends a number where a blank follows and there are digits enough before it.
"""
_NATIONAL = re.compile(
    rf"(?<![\w.,+\-/\u2022])\(?(?!\d\d[./-]\d\d[./-](?:19|20)\d\d(?!\d))0(?![.,])(?:{_BETWEEN}{{0,8}}\d){{6,14}}(?!\d)"
)
"""A number with the zero that stands before an area code, anywhere in a text; no date."""
_LABELLED = re.compile(
    r"(?<![^\W\d_])(?:tel(?:ef[oó]n[oe]?|ephone)?|t[eé]l[eé]phone|phone|fon|mob|mobile?|m[oó]vil|handy|cell(?:phone)?|fax|gsm"
    r"|whats ?app|wa\.me|sips?|sms|callto|msisdn|ruf|r(?:ü|u|ue)ckruf|телефон|電話|电话|手机)"
    r"(?:[\s._\-]{0,2}(?:nr|no|num(?:ber|mer)?))?[\s.:;,#=/_\-\u2010-\u2015\uff1a]{0,4}"
    r"(?P<number>\(?(?!\d{4}-\d\d-\d\d|\d\d?([./-])\d\d?\2(?:19|20)\d\d(?!\d))"
    rf"\d(?:{_BETWEEN}{{0,8}}\d){{5,16}}(?!\d))",
    re.IGNORECASE,
)
"""Digits behind a word that says that they are a telephone's: in any notation, with anything between the two."""
_LOCAL = re.compile(rf"\(?\d(?:{_BETWEEN}{{0,8}}\d){{6,14}}")
"""A number without its country, as the whole of a cell."""
_DIGITS = re.compile(rf"[+]?\(?\d(?:{_BETWEEN}{{0,8}}\d){{4,}}")
"""Digits enough to call somebody, in a cell of a column of telephones."""
_ANY_DIGIT = re.compile(r"\d")
_SIX_DIGITS = re.compile(r"\d(?:\D{0,8}\d){5}")
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


_PLUS_SIGNS = "\u207a\u208a\ufb29\ufe62\uff0b"
_MOST_KNOWN = 20_000


class _Plain(dict[int, int]):
    """Each character as itself, but digits of every script, plain or in a circle, and plus signs in ASCII."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        digit = unicodedata.digit(char, None)
        plain = ord("+") if char in _PLUS_SIGNS else code if digit is None else ord(str(digit))
        if len(self) < _MOST_KNOWN:
            self[code] = plain
        return plain


_PLAIN = _Plain()


def masked_in(text: str, *, column: str | None = None) -> str:
    """The text with its numbers masked that have a country's sign, the zero of an area code, or a word such as `tel`.

    A cell of a column of telephones is masked in any notation. Digits elsewhere stay: they may be a customer's number,
    a date or an amount.
    """
    plain = as_plain(text)
    if _ALONE.fullmatch(plain):
        return masked(plain)
    if column is not None and is_of_telephones(column) and _ANY_DIGIT.search(plain):
        return text if _DATE.fullmatch(text.strip()) else _without(text, _DIGITS).strip()
    return _without(text, _WRITTEN, _LABELLED, _NATIONAL) if may_hold_a_number(text) else text


def masked_abroad(text: str, *, but: Set[str] = frozenset()) -> str:
    """The text with its numbers masked that have a country's sign or a word such as `tel`.

    This is for what an organization writes itself: names, reasons, summaries. Other digits in them are its own.
    Numbers of `but`, in E.164, stay as they are written.
    """
    return _without(text, _WRITTEN, _LABELLED, but=but) if may_hold_a_number(text) else text


def may_hold_a_number(text: str) -> bool:
    """Whether there are digits enough in a text, and near enough to each other, for what `masked_abroad` finds."""
    return _SIX_DIGITS.search(as_plain(text)) is not None


def numbers_in(text: str) -> list[str]:
    """The international numbers in a text, with a plus and digits alone."""
    return [_digits(found[0]) for found in _WRITTEN.finditer(as_plain(text))]


def masked_everywhere(text: str) -> str:
    """The text with every number masked that may be a telephone's, also without its country."""
    if _DATE.fullmatch(text):
        return text
    if _LOCAL.fullmatch(as_plain(text).strip()):
        return masked(_digits(as_plain(text).strip()))
    return _without(masked_in(text), _GROUPED)


def masked_whole(text: str) -> str:
    """A text that is one number, in whatever notation, without its middle."""
    return masked(_digits(as_plain(text).strip()))


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


def as_plain(text: str) -> str:
    """The text with its digits and plus signs in ASCII, character by character."""
    return text if text.isascii() else text.translate(_PLAIN)


def _without(text: str, *patterns: re.Pattern[str], but: Set[str] = frozenset()) -> str:
    """The text without what the patterns find, one after the other; everything else stays as it is written."""
    for pattern in patterns:
        plain = as_plain(text)
        if pattern.search(plain) is None:
            continue
        parts: list[str] = []
        end = 0
        part = "number" if pattern is _LABELLED else 0
        for found in pattern.finditer(plain):
            if (number := _digits(found[part])) not in but:
                parts += text[end : found.start(part)], masked(number)
                end = found.end(part)
        text = "".join((*parts, text[end:]))
    return text


def _digits(text: str) -> str:
    """A number in one notation, with its plus and without the zero that is not dialled from abroad."""
    plain = re.sub(r"^%2[Bb]", "+", text)
    digits = re.sub(r"[^0-9]", "", plain.replace("(0)", "") if plain.startswith(("+", "00")) else plain)
    if plain.startswith("00"):
        return f"+{digits[2:]}"
    return f"+{digits}" if plain.startswith("+") else digits
