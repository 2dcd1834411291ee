"""Converts digits, plus signs and pictures of telephones of every script to one form each."""

import re
import unicodedata

_PLUS_AS_A_WORD = re.compile(
    r"(?:[Pp][Ll][Uu][Ss]|[Пп][Лл][Юю][Сс])(?<![^\W\d_].{4})(?=[\W_]{0,9}\d)(?![\W_]{0,9}\d{1,3}(?:[,.]\d{3})+(?![,.]?\d))"
)
"""The word "plus", unless an amount of money follows."""
_PLUS_SIGNS = frozenset(
    "\u02d6\u1429\u207a\u208a\u2214\u2295\u229e\u2719\u271a\u271b\u271c\u2795\u2a01\u2a22\ufb29\ufe62\uff0b\U0001f7a0"
    "\U0001f7a1\U0001f7a2\U0001f7a3\U0001f7a4\U0001f7a5\U0001f7a6\U0001f7a7"
)
_TELEPHONES = frozenset(
    "\u260e\u260f\u2121\u2706\U0001f4de\U0001f4df\U0001f4e0\U0001f4f1\U0001f4f2\U0001f57b\U0001f57c\U0001f57d\U0001f57e"
    "\U0001f57f\U0001f580\U0001f581\U0001f919"
)
PICTURE = "\u260e"
"""A picture of a telephone. Others are replaced by this one."""
_MOST_KNOWN = 20_000
_FRACTION = re.compile(r"(?<=\d{5})\.0+$")


class _AsciiDigits(dict[int, int]):
    """Maps digits of every script, plain or in a circle, and plus signs to ASCII; other characters stay."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        digit = unicodedata.digit(char, None)
        plain = code if digit is None else ord(str(digit))
        if char in _PLUS_SIGNS:
            plain = ord("+")
        elif char in _TELEPHONES:
            plain = ord(PICTURE)
        if len(self) < _MOST_KNOWN:
            self[code] = plain
        return plain


_PLAIN = _AsciiDigits()


def as_plain(text: str) -> str:
    """The text with digits, plus signs and pictures of telephones in one form each; its length does not change."""
    if text.isascii():
        return text
    for char in set(text):  # a text has few different characters: looking at each place takes ten times as long
        if (plain := _PLAIN[ord(char)]) != ord(char):
            text = text.replace(char, chr(plain))
    return text


def whole_number(text: str) -> str:
    """The text in plain digits, without the `.0` that spreadsheets and JSON write after a whole number."""
    return _FRACTION.sub("", as_plain(text).strip())


def with_signs(plain: str) -> str:
    """The text with the word "plus" replaced by a sign; its length does not change."""
    return _PLUS_AS_A_WORD.sub("+\x1f\x1f\x1f", plain)
