"""How programs write telephone numbers that people would write plainly."""

import re

_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_WITH_EXPONENT = re.compile(r"(\+?[1-9])[.,](\d+)[eE]\+?(\d{1,2})")


def plainly_written(text: str) -> str:
    """A text with ordinary spaces in place of those of other widths (Unicode, category Zs), and a number without the
    exponent of spreadsheets, `1.2025550139E10`, if none of its digits is lost.
    """
    plain = (text if text.isascii() else _SPACES.sub(" ", text)).strip()
    found = _WITH_EXPONENT.fullmatch(plain)
    if found is None:
        return plain
    first, rest, exponent = found[1], found[2], int(found[3])
    return f"{first}{rest[:exponent]}" if len(rest) >= exponent and not rest[exponent:].strip("0") else plain
