"""The file of an import: its records, the names of its columns, and which of them holds the numbers."""

import base64
import io
from collections.abc import Sequence
from itertools import chain, islice
from typing import Any, BinaryIO

from sqlalchemy import Row

from callwright.contract.checks.counts import count_of
from callwright.contract.checks.names import wrong_in_column
from callwright.list_files.phone_columns import (
    LOOKED_AT,
    MAX_COLUMN_NAME,
    column_like,
    from_and_to,
    is_surely_number,
    phone_column_among,
)
from callwright.list_files.reading import ListFile, Record, open_list
from callwright.list_files.unreadable import UnreadableList
from callwright.service.platform.phone import redacted
from callwright.service.platform.uploads import Uploads
from callwright.service.rules.list_pieces import Piece
from callwright.service.rules.rows import MAX_COLUMNS
from callwright.service.settings import ServiceSettings

MOST_CELLS = 5_000_000
"""Cells of a workbook: a small one can hold many times its size."""
_STEP = 10_000
"""Rows after which the bound of cells is looked at while rows are read over."""
_NAMED = {
    "external_id_column": "own ids",
    "priority_column": "priorities",
    "not_before_column": "the time before which nobody calls",
    "language_column": "languages",
}
"""The columns that an audience reads where it was told their names, and what it reads from them."""
_NAMES_SAID = 12
_LONGEST_NAME_SAID = 40


class ImportedFile:
    """A file that was opened. Its rows are read once, in order, a piece at a time; no more of it is in memory."""

    def __init__(self, opened: ListFile, header: Sequence[str], wanted_column: str | None) -> None:
        self.header = tuple(header)
        self.read_as = opened.read_as
        """How it is read, for people."""
        self.source = "csv" if opened.sheet is None else "xlsx"
        first = list(islice(opened.rows, LOOKED_AT))
        if not first:
            raise UnreadableList("the file needs a header row and at least one data row")
        _check_header(header)
        self.phone_column = _phone_column(wanted_column, header, first, _sheets_said(opened))
        self._rows = chain(first, opened.rows)
        self._read = 0

    def piece(self, most: int) -> Piece:
        """The next rows, `most` of them; fewer at the end, and none after it. Raises `UnreadableList`."""
        records = list(islice(self._rows, most))
        piece = Piece(self._read, self.header, [line for line, _ in records], [cells for _, cells in records])
        self._has_read(len(records))
        return piece

    def skip(self, most: int) -> int:
        """Reads over the next rows, `most` of them, and returns how many there were. Raises `UnreadableList`."""
        skipped = 0
        while step := sum(1 for _ in islice(self._rows, min(_STEP, most - skipped))):
            self._has_read(step)
            skipped += step
        return skipped

    def _has_read(self, count: int) -> None:
        self._read += count
        if self.source == "xlsx" and self._read * len(self.header) > MOST_CELLS:
            raise UnreadableList(f"it has more than {count_of(MOST_CELLS, 'cell')}; cut it in pieces")


def open_import(data: BinaryIO, audience: Row[Any]) -> ImportedFile:
    """Opens the file of an import into an audience.

    Raises:
        UnreadableList: it cannot be imported; the text says why.
    """
    opened = open_list(data, country=audience.default_country, column=audience.phone_column)
    header = [name.strip() for name in opened.header.cells]
    if len(header) > MAX_COLUMNS:
        raise UnreadableList(f"the header has {len(header)} columns; at most {MAX_COLUMNS} are allowed")
    file = ImportedFile(opened, header, audience.phone_column)
    _check_named(audience, header)
    return file


def file_of(imported: Row[Any], settings: ServiceSettings) -> BinaryIO:
    """The file of an import, which came in the request itself or was uploaded.

    Raises:
        UnreadableList: it was uploaded, and is not in the data folder.
    """
    csv: str | None = imported.csv
    if imported.file is not None:
        return io.BytesIO(base64.b64decode(imported.file))
    if csv is not None:
        return io.BytesIO(csv.encode())
    try:
        return Uploads(settings).path_of(imported.id).open("rb")
    except FileNotFoundError as error:
        raise UnreadableList(
            "the uploaded file is not in the data folder: a copy of the database alone does not have it, and processes "
            "that share a database need one folder for uploads. Import the list again."
        ) from error


def _check_header(header: Sequence[str]) -> None:
    """Raises `UnreadableList`, which names columns by position, because a first row of data may have numbers."""
    places: dict[str, int] = {}
    for place, name in enumerate(header, 1):
        if not name:
            raise UnreadableList(
                f"column {place} has no name in the header; name it, or delete the rows above the one with the names"
            )
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


def _check_named(audience: Row[Any], header: Sequence[str]) -> None:
    """Raises `UnreadableList` where a column that the audience was told to read is not there: without it people would
    be called too early, or twice. A column of time zones may have been found by itself, in an earlier file.
    """
    named = [(what, getattr(audience, field)) for field, what in _NAMED.items()]
    if not audience.valid_count:
        named.append(("time zones", audience.timezone_column))
    for what, column in named:
        if column and column_like(column, header) is None:
            raise UnreadableList(
                f"the audience reads {what} from the column {column}, which the file has not; "
                f"{_those_there(header)}. Correct the header, or add the column, with empty cells where nothing is "
                "known, and import it again"
            )


def _phone_column(wanted: str | None, header: Sequence[str], records: Sequence[Record], sheets: str) -> str:
    if wanted is not None:
        found = column_like(wanted, header)
        if found is None:
            raise UnreadableList(
                f"the audience reads numbers from the column {wanted}, which the file has not; {sheets}"
                f"{_those_there(header)}. Name one of them as phone_column with update_audience, or correct the "
                "header, and import it again"
            )
        return found
    rows = [dict(zip(header, record.cells, strict=False)) for record in records[:LOOKED_AT]]
    if (both := from_and_to(header, rows)) is not None:
        raise UnreadableList(
            f"the columns {both[0]} and {both[1]} hold the numbers of both ends of calls; name the one to call as "
            "phone_column with update_audience, and import it again"
        )
    found = phone_column_among(header, rows)
    if found is None:
        raise UnreadableList(
            f"no column looks like one of telephone numbers; {sheets}{_those_there(header)}. Name the column as "
            "phone_column with update_audience, and import it again"
        )
    return found


def _sheets_said(opened: ListFile) -> str:
    """Which sheet was looked at last, where a workbook has several; ends so that what it has may follow."""
    if opened.sheet is None or not opened.sheet.others:
        return ""
    return f"no sheet that is shown has one, and of the sheet {redacted(opened.sheet.name)} is said: "


def _those_there(header: Sequence[str]) -> str:
    """The columns that are there. A name that may be a number is masked."""
    names = [redacted(name)[:_LONGEST_NAME_SAID] for name in header[:_NAMES_SAID]]
    more = len(header) - len(names)
    if len(header) == 1 or not any(header[1:]):
        return f"its first row has {names[0]} alone: delete the rows above the header, if that is a title"
    return f"it has {', '.join(names)}" + (f" and {count_of(more, 'more column')}" if more else "")
