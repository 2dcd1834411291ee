"""Cells and lines of the CSV files that are written: no cell can be taken for a formula, however the file is split.

A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@` (some take the wide forms too), also behind white space.
Source: OWASP, CSV injection. Such a text gets an apostrophe in front. A plus or minus with nothing but digits, a point
and an exponent behind it can only be a number, so telephone numbers in E.164 stay as programs need them; a spreadsheet
shows them as a number, with all of their digits, as it has fifteen.

Where the list separator of a country is a semicolon, a spreadsheet splits a file with commas at semicolons, and knows
quotation marks only where a cell begins. Then a cell begins behind each semicolon and line break of a text, quoted or
not. So the same holds behind a semicolon, tab, bar or line break, and quotation marks before a formula do not hide it.
"""

import re
from collections.abc import Iterable, Sequence

MARK = "\ufeff"
"""The byte order mark. A CSV file begins with it, else spreadsheets read UTF-8 as the code page of the machine."""
_STARTS = tuple("=+-@＝＋－＠\t\r\n")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
_BREAKS = re.compile(r"([;|\t\r\n])")
_BREAKS_AND_COMMAS = re.compile(r"([,;|\t\r\n])")
_QUOTED = re.compile(r'[",;|\t\r\n]')


def safe_cell(text: str, *, commas: bool = False) -> str:
    """The text as a cell that no spreadsheet runs; `commas`: nor where commas stand between cells."""
    breaks = _BREAKS_AND_COMMAS if commas else _BREAKS
    safe = _safe(text)
    if breaks.search(safe) is None:
        return safe
    first, *others = breaks.split(safe)
    return first + "".join(part if place % 2 == 0 else _safe(part, quoted=True) for place, part in enumerate(others))


def _safe(text: str, *, quoted: bool = False) -> str:
    if not text or (text[0].isalnum() and text[0].isascii()):
        return text
    begins = text.lstrip().lstrip('" \u00a0') if quoted else text.lstrip()
    risky = text.startswith(_STARTS) or begins.startswith(_STARTS)
    return f"'{text}" if risky and _NUMBER.fullmatch(text) is None else text


def csv_lines(rows: Iterable[Sequence[str]], *, separator: str = ",", end: str = "\r\n") -> str:
    """Rows as CSV (RFC 4180). A cell that holds any separator is quoted, not only one that holds this one."""
    return "".join(separator.join(map(_quoted, row)) + end if row != [""] else f'""{end}' for row in rows)


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell
