"""How programs write telephone numbers that people would write plainly."""

import re

_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064"
    "\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
"""Marks of direction and the like, which address books put around numbers that are copied from them."""
_WIDE_PLUS = "\uff0b\ufe62\u207a"
_PLAIN = str.maketrans(dict.fromkeys(_SPACES, " ") | dict.fromkeys(_INVISIBLE, "") | dict.fromkeys(_WIDE_PLUS, "+"))
_WITH_EXPONENT = re.compile(r"(\+?[1-9])[.,](\d+)[eE]\+?(\d{1,2})")


def plainly_written(text: str) -> str:
    """A text with ordinary spaces in place of those of other widths (Unicode, category Zs), without invisible marks,
    with an ordinary plus, and a number without the exponent of spreadsheets, `1.2025550139E10`, if none of its digits
    is lost.
    """
    plain = (text if text.isascii() else text.translate(_PLAIN)).strip()
    found = _WITH_EXPONENT.fullmatch(plain)
    if found is None:
        return plain
    first, rest, exponent = found[1], found[2], int(found[3])
    return f"{first}{rest[:exponent]}" if len(rest) >= exponent and not rest[exponent:].strip("0") else plain
