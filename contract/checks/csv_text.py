"""The text of a CSV file: its columns are separated by commas (RFC 4180)."""

import csv
import io
import re

from callwright.contract.checks.phone_columns import phone_column_among

_LONGEST_HEADER = 200_000
"""Characters that are looked at: more than any header that is taken."""
_OTHERS = {";": "semicolons (;)", "\t": "tabs", "|": "vertical bars (|)"}
_HEADER = re.compile(r'(?:"[^"]*+"?|[^"\r\n])*+')
_QUOTED = re.compile(r'"[^"]*+"?')


class NotCsv(ValueError):
    """The text cannot be read; the message says in which line and why."""


def records(text: str) -> list[list[str]]:
    """The rows of a file, the header among them, without empty ones. Lines end in LF, CR LF, or, all of them, in CR.

    Raises:
        NotCsv: a quotation mark has no counterpart or stands alone, or a cell is longer than 131,072 characters.
    """
    if "\n" not in text:  # lines ended so on old Macs
        text = text.replace("\r", "\n")
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    try:
        return [record for record in reader if not is_empty(record)]
    except csv.Error as error:
        what = "a cell is too long" if "limit" in str(error) else "a quotation mark has no counterpart, or stands alone"
        raise NotCsv(f"in line {reader.line_num}, {what}") from error


def is_empty(record: list[str]) -> bool:
    """Whether a row has nothing in its cells, as spreadsheets write them below the last one."""
    return not any(cell.strip() for cell in record)


def other_separator(text: str) -> str | None:
    """What the header row is separated by in place of commas, in words; None where it is read with commas.

    It is, unless commas leave one column and the other gives several, or only the other gives a column of numbers.
    """
    found = _HEADER.match(text.lstrip("\ufeff\r\n")[:_LONGEST_HEADER])
    header = found[0] if found else ""
    by_commas = _columns(header, ",")
    has_numbers = phone_column_among(by_commas) is not None
    others: list[tuple[bool, int, str]] = []
    for separator in _OTHERS:
        columns = _columns(header, separator)
        gives_numbers = phone_column_among(columns) is not None
        if len(columns) > 1 and (len(by_commas) == 1 or (gives_numbers and not has_numbers)):
            others.append((gives_numbers, len(columns), separator))
    return _OTHERS[max(others)[2]] if others else None


def _columns(header: str, separator: str) -> list[str]:
    """The names in a header. What is in quotation marks is not split, by whatever separator they were meant for."""
    split = _QUOTED.sub(lambda cell: cell[0].replace(separator, " "), header).split(separator)
    return [column.strip().strip('"') for column in split]


def separator_said(separator: str) -> str:
    """What is wrong with a file whose columns are separated by something else, and what to do."""
    return (
        f"its columns are separated by {separator}; save it with commas between them (CSV, comma separated) and send "
        "it again"
    )


def with_commas(text: str) -> str:
    """The text. Raises ValueError where its header row is separated by semicolons, tabs or vertical bars."""
    separator = other_separator(text)
    if separator is not None:
        raise ValueError(separator_said(separator))
    return text
