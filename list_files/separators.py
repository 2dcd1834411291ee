"""What separates the columns of a CSV file: a comma, a semicolon, a tab or a vertical bar."""

import csv
import re
from collections.abc import Sequence
from itertools import islice

from callwright.list_files.header_rows import rows_above_header
from callwright.list_files.phone_columns import named_for_numbers

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_DECLARED = re.compile(r"(?i)sep=(.)\s*")
_LOOKED_AT = 30
"""Records that are looked at, the header among them."""


def declared_separator(first_line: str) -> str | None:
    """The separator that Excel's first line `sep=;` names; None for any other line."""
    found = _DECLARED.fullmatch(first_line.removeprefix("\ufeff").strip('" \r\n'))
    return found[1] if found else None


def separator_of(lines: Sequence[str]) -> str:
    """The separator of a file by its first lines.

    It is the one that gives a column whose name is of numbers, then the one by which most rows have as many cells as
    the header, then the one that gives most columns.
    """
    return max(SEPARATORS, key=lambda separator: _fit(lines, separator))


def _fit(lines: Sequence[str], separator: str) -> tuple[bool, bool, float, int]:
    try:
        read = (record for record in csv.reader(lines, delimiter=separator) if record)
        records = list(islice(read, _LOOKED_AT))
    except csv.Error:
        return (False, False, 0.0, 0)
    if not records:
        return (False, False, 0.0, 0)
    header, *rows = records[rows_above_header(records) :]
    alike = sum(len(row) == len(header) for row in rows) / len(rows) if rows else 1.0
    of_numbers = any(map(named_for_numbers, header))
    return (len(header) > 1 and of_numbers, len(header) > 1, round(alike, 1), len(header))
