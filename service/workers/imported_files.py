"""The file of an import: its records, the names of its columns, and which of them holds the numbers."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from callwright.contract.checks.counts import count_of
from callwright.contract.checks.names import wrong_in_column
from callwright.list_files.phone_columns import (
    LOOKED_AT,
    MAX_COLUMN_NAME,
    column_like,
    is_surely_number,
    phone_column_among,
)
from callwright.list_files.reading import Record, open_list
from callwright.list_files.unreadable import UnreadableList
from callwright.service.platform.phone import redacted
from callwright.service.rules.rows import MAX_COLUMNS, BadRow

MOST_CELLS = 5_000_000
"""Cells of a file: a small workbook can hold many times its size."""
_NAMES_SAID = 12
_LONGEST_NAME_SAID = 40


@dataclass(frozen=True)
class ImportedFile:
    """A file that was read."""

    read_as: str
    """How it was read, for people."""
    source: str
    header: Sequence[str]
    records: Sequence[Record]
    phone_column: str

    def numbered(self, begin: int, end: int) -> tuple[list[tuple[int, dict[str, str]]], list[BadRow]]:
        """Some of its rows with their numbers, from 1, and those whose cells do not fit the header."""
        rows: list[tuple[int, dict[str, str]]] = []
        bad: list[BadRow] = []
        for number, (line, cells) in enumerate(self.records[begin:end], begin + 1):
            if len(cells) != len(self.header):
                message = f"the row has {count_of(len(cells), 'cell')}, the header {len(self.header)}"
                bad.append(BadRow(number, "column_count_mismatch", message, line=line))
            else:
                rows.append((number, dict(zip(self.header, cells, strict=True))))
        return rows, bad

    def line_of(self, row_number: int) -> int:
        """The line in which a row begins."""
        return self.records[row_number - 1].line


def read_file(imported: Row[Any], audience: Row[Any]) -> ImportedFile:
    """The file of an import into an audience.

    Raises:
        UnreadableList: it cannot be imported; the text says why.
    """
    data = base64.b64decode(imported.file) if imported.file is not None else imported.csv.encode()
    opened = open_list(io.BytesIO(data), country=audience.default_country)
    header = [name.strip() for name in opened.header.cells]
    if len(header) > MAX_COLUMNS:
        raise UnreadableList(f"the header has {len(header)} columns; at most {MAX_COLUMNS} are allowed")
    records: list[Record] = []
    for record in opened.rows:
        records.append(record)
        if len(records) * len(header) > MOST_CELLS:
            raise UnreadableList(f"it has more than {count_of(MOST_CELLS, 'cell')}; cut it in pieces")
    if not records:
        raise UnreadableList("the file needs a header row and at least one data row")
    _check_header(header)
    source = "xlsx" if opened.read_as == "XLSX" else "csv"
    column = _phone_column(audience.phone_column, header, records)
    return ImportedFile(opened.read_as, source, header, records, column)


def _check_header(header: Sequence[str]) -> None:
    """Raises `UnreadableList`, which names columns by position, because a first row of data may have numbers."""
    places: dict[str, int] = {}
    for place, name in enumerate(header, 1):
        if not name:
            raise UnreadableList(f"column {place} has no name in the header")
        if len(name) > MAX_COLUMN_NAME:
            raise UnreadableList(f"the name of column {place} has more than {MAX_COLUMN_NAME} characters")
        if (wrong := wrong_in_column(name)) is not None:
            raise UnreadableList(f"the name of column {place} {wrong}")
        if name in places:
            raise UnreadableList(f"columns {places[name]} and {place} of the header have the same name")
        if is_surely_number(name):
            raise UnreadableList(
                f"the first row names the columns, and column {place} of it is a telephone number; put a row with "
                "the names first"
            )
        places[name] = place


def _phone_column(wanted: str | None, header: Sequence[str], records: Sequence[Record]) -> str:
    if wanted is not None:
        found = column_like(wanted, header)
        if found is None:
            raise UnreadableList(
                f"the audience reads numbers from the column {wanted}, which the file has not; {_those_there(header)}. "
                "Name one of them as phone_column with update_audience, or correct the header, and import it again"
            )
        return found
    rows = [dict(zip(header, record.cells, strict=False)) for record in records[:LOOKED_AT]]
    found = phone_column_among(header, rows)
    if found is None:
        raise UnreadableList(
            f"no column looks like one of telephone numbers; {_those_there(header)}. Name the column as phone_column "
            "with update_audience, and import it again"
        )
    return found


def _those_there(header: Sequence[str]) -> str:
    """The columns that are there. A name that may be a number is masked."""
    names = [redacted(name)[:_LONGEST_NAME_SAID] for name in header[:_NAMES_SAID]]
    more = len(header) - len(names)
    return f"it has {', '.join(names)}" + (f" and {count_of(more, 'more column')}" if more else "")
