"""Telephone numbers of contacts without their middle, in text and in data alike.

The organization's own numbers stay whole, and so does what people say on a call: speech is not rewritten.
"""

import re
from functools import lru_cache

from .text import masked

_WRITTEN = re.compile(r"(?<![\w+])(?:\+|00)\d(?:[ ().\-/]{0,2}\d){6,16}(?!\d)")
"""An international number as people write it, anywhere in a text."""
_LOCAL = re.compile(r"\(?\d(?:[ ().\-/]{0,2}\d){6,14}")
"""A number without its country, as the whole of a cell."""
_ALONE = re.compile(r"\+\d{1,20}")
"""E.164 and nothing else, however short."""
_GROUPED = re.compile(
    r"(?<![\w.+])(?:\(\d{2,5}\) ?|\d{2,5}[ \-/])\d{3,4}[ \-/.]?\d{3,6}(?![\w.]\d|\d)"
    r"|(?<![\w.+])\d{3}\.\d{3}\.\d{4}(?!\d)|(?<![\w.+])\d{9,15}(?![\d.])"
)
"""A number without its country in a text: in groups as people write it, or too long for anything but a number."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_OF_TELEPHONES = re.compile(r"phone|mobile|cell|\btel\b|\bfax\b|whatsapp|msisdn|handset", re.IGNORECASE)
"""What the name of a column of telephone numbers has in it."""


def masked_in(text: str, *, column: str | None = None) -> str:
    """The text with its international numbers masked. A cell of a column of telephones is masked in any notation.

    Digits without a country's sign elsewhere stay: they may be a customer's number, a date or an amount.
    """
    if column is not None and _holds_telephones(column) and _LOCAL.fullmatch(text.strip()):
        return masked(_digits(text))
    if "+" not in text and "00" not in text:
        return text
    if _ALONE.fullmatch(text):
        return masked(text)
    return _WRITTEN.sub(lambda number: masked(_digits(number[0])), text)


def masked_everywhere(text: str) -> str:
    """The text with every number masked that may be a telephone's, also without its country."""
    if _DATE.fullmatch(text):
        return text
    return _GROUPED.sub(lambda number: masked(_digits(number[0])), masked_in(text, column="phone"))


@lru_cache(maxsize=4_096)
def _holds_telephones(column: str) -> bool:
    return _OF_TELEPHONES.search(column.replace("_", " ")) is not None


def _digits(text: str) -> str:
    """A number in one notation, with its plus."""
    digits = re.sub(r"\D", "", text)
    if text.startswith("00"):
        return f"+{digits[2:]}"
    return f"+{digits}" if text.startswith("+") else digits
