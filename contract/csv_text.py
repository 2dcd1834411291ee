"""The text of a CSV file: its columns are separated by commas (RFC 4180)."""

import csv
import io
from collections import Counter

_LONGEST_HEADER = 200_000
"""Characters that are looked at: more than any header that is taken."""
_OTHERS = {";": "semicolons (;)", "\t": "tabs"}


class NotCsv(ValueError):
    """The text cannot be read; the message says in which line and why."""


def records(text: str) -> list[list[str]]:
    """The rows of a file, the header among them, without empty lines. Lines end in LF, CR LF, or, all of them, in CR.

    Raises:
        NotCsv: a quotation mark has no counterpart or stands alone, or a cell is longer than 131,072 characters.
    """
    if "\n" not in text:  # lines ended so on old Macs
        text = text.replace("\r", "\n")
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    try:
        return [record for record in reader if record]
    except csv.Error as error:
        what = "a cell is too long" if "limit" in str(error) else "a quotation mark has no counterpart, or stands alone"
        raise NotCsv(f"in line {reader.line_num}, {what}") from error


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
