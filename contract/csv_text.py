"""The text of a CSV file: its columns are separated by commas (RFC 4180)."""

from collections import Counter

_LONGEST_HEADER = 200_000
"""Characters that are looked at: more than any header that is taken."""
_OTHERS = {";": "semicolons (;)", "\t": "tabs"}


def other_separator(text: str) -> str | None:
    """What the header row is separated by in place of commas, in words; None for commas, or a single column."""
    found = Counter[str]()
    quoted = False
    for character in text.lstrip("\ufeff\r\n")[:_LONGEST_HEADER]:
        if character == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif character in "\r\n":
            break
        elif character == "," or character in _OTHERS:
            found[character] += 1
    most = max(_OTHERS, key=lambda separator: found[separator])
    return _OTHERS[most] if found[most] > found[","] else None


def separator_said(separator: str) -> str:
    """What is wrong with a file whose columns are separated by something else, and what to do."""
    return (
        f"its columns are separated by {separator}; save it with commas between them (CSV, comma separated) and send "
        "it again"
    )


def with_commas(text: str) -> str:
    """The text. Raises ValueError where its header row is separated by semicolons or tabs."""
    separator = other_separator(text)
    if separator is not None:
        raise ValueError(separator_said(separator))
    return text
