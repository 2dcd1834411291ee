"""Opens a list: finds out what kind of file it is, and reads its records one by one.

The source is any seekable stream of bytes. At most a record and a buffer of it are in memory at a time.
"""

import csv
import io
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import BinaryIO, NamedTuple

from callwright.list_files.encodings import encoding_name, encoding_of
from callwright.list_files.header_rows import LOOKED_AT, rows_above_header
from callwright.list_files.packed import is_packed, unpacked
from callwright.list_files.phone_columns import column_like, phone_column_among
from callwright.list_files.separators import SEPARATORS, declared_separator, separator_of
from callwright.list_files.unreadable import UnreadableList
from callwright.list_files.workbooks import BEGIN_BYTES, OpenSheet, is_workbook, open_sheet

LONGEST_LINE = 1_000_000
"""Characters of a line of a CSV file."""
MOST_EMPTY_ROWS, EMPTY_FOR_EACH = 2_000_000, 1
"""Rows of a CSV file that hold nothing: so many, and more for each that holds anything. Excel has 1,048,576 rows."""
LONGEST_READ_AS = 100
"""Characters of what is said about how a list is read."""
_FIRST_LINES = 60
_LONGEST_LOOKED_AT = 20_000


class Record(NamedTuple):
    """A row of the file and the line in which it begins, from 1; in a workbook the row of the sheet."""

    line: int
    cells: list[str]


@dataclass(frozen=True)
class ListFile:
    """A list that was opened. Its records are read once, from the first one on."""

    read_as: str
    """How the file is read, for people: `CSV, UTF-8, semicolons`. At most 100 characters."""
    header: Record
    rows: Iterator[Record]
    sheet: OpenSheet | None = None
    """The sheet that is read; None of a text."""


def open_list(
    file: BinaryIO, *, country: str | None = None, column: str | None = None, with_hidden: bool = False
) -> ListFile:
    """Opens a list. Empty rows are left out, rows above the header, and hidden rows unless `with_hidden` is set.

    `country` is where its numbers are from, as ISO 3166-1; it helps to find the encoding. `column` is the one that has
    to hold the numbers; it helps to find the sheet of a workbook.

    Raises:
        UnreadableList: it cannot be read; also while the rows are read.
    """
    file.seek(0)
    begin = file.read(BEGIN_BYTES)
    if packed := is_packed(begin):
        file = unpacked(file)
        begin = file.read(BEGIN_BYTES)
        if is_packed(begin):
            raise UnreadableList("it is packed with gzip twice; pack it once")
    sheet: OpenSheet | None = None
    if is_workbook(begin):
        if packed:  # it is read from its end on, and would be unpacked again and again
            raise UnreadableList("it is a workbook that is packed with gzip; send the workbook itself")
        sheet = open_sheet(file, lambda rows: _is_list(rows, column), with_hidden=with_hidden)
        read_as, records = "XLSX", (Record(line, cells) for line, cells in sheet.rows)
    else:
        read_as, records = _csv(file, country)
        read_as += ", gzip" if packed else ""
    first = list(islice(records, LOOKED_AT))
    hidden = 0 if sheet is None or with_hidden else sheet.hidden_rows
    above = rows_above_header([record.cells for record in first])
    if hidden and len(first) < above + 2:
        raise UnreadableList("its rows are hidden, as by a filter; show those that are meant, and save it again")
    if not first:
        raise UnreadableList("it is empty; the first row has to name the columns")
    header, rows = first[above], chain(first[above + 1 :], records)
    if "\x00" in "".join(header.cells):
        raise UnreadableList("it is in no encoding that is known; save it again as CSV UTF-8")
    without = f", without the {'row' if above == 1 else f'{above} rows'} above the header" if above else ""
    if sheet is not None:
        without = _of_sheet(sheet, without, with_hidden=with_hidden)
    width = len(header.cells)
    while width and not header.cells[width - 1].strip():
        width -= 1
    is_padded = sheet is not None
    return ListFile(
        read_as + without,
        _cut(header, width, is_padded=True),
        (_cut(row, width, is_padded=is_padded) for row in rows),
        sheet,
    )


def _is_list(rows: Sequence[Sequence[str]], column: str | None) -> bool:
    """Whether the first rows of a sheet are a list: it has the column, or else one that looks like numbers."""
    header, *below = rows[rows_above_header(rows) :]
    names = [name.strip() for name in header]
    if column is not None:
        return column_like(column, names) is not None
    return phone_column_among(names, [dict(zip(names, cells, strict=False)) for cells in below]) is not None


def _of_sheet(sheet: OpenSheet, behind: str, *, with_hidden: bool) -> str:
    """What is said of the sheet that is read, and behind it; the name is cut where all would be too long."""
    if sheet.hidden_rows:
        count = f"{sheet.hidden_rows:,} hidden row{'' if sheet.hidden_rows == 1 else 's'}"
        behind = f", with {count}{behind}" if with_hidden else f", {count} left out{behind}"
    if not sheet.others:
        return behind
    others = f"{sheet.others} other sheet{'' if sheet.others == 1 else 's'} not read"
    room = LONGEST_READ_AS - len(f"XLSX, sheet , {others}{behind}")
    name = " ".join("".join(char if char.isprintable() else " " for char in sheet.name).split())
    return f", sheet {name if len(name) <= room else f'{name[: room - 1]}…'}, {others}{behind}"


def open_text(text: str) -> ListFile:
    """Opens the text of a CSV file."""
    return open_list(io.BytesIO(text.encode()))


def _cut(record: Record, width: int, *, is_padded: bool) -> Record:
    """The record without empty cells beyond the header's; a workbook does not store empty cells at the end."""
    line, cells = record
    if len(cells) == width:  # nearly all of them
        return record
    if len(cells) > width and not any(cell.strip() for cell in cells[width:]):
        cells = cells[:width]
    if is_padded and len(cells) < width:
        cells = [*cells, *[""] * (width - len(cells))]
    return Record(line, cells)


def _csv(file: BinaryIO, country: str | None) -> tuple[str, Iterator[Record]]:
    codec = encoding_of(file, country)
    with closing(_lines(file, codec)) as lines:
        first = [line[:_LONGEST_LOOKED_AT] for line in islice(lines, _FIRST_LINES)]
    declared = declared_separator(first[0]) if first else None
    separator = declared or separator_of(first)
    read_as = ", ".join(("CSV", encoding_name(codec), SEPARATORS.get(separator, f"separated by {separator}")))
    return read_as, _records(_lines(file, codec), separator, skipped=1 if declared else 0)


def _records(lines: Iterator[str], separator: str, *, skipped: int) -> Iterator[Record]:
    for _ in range(skipped):
        next(lines, None)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    begins_after = empty = filled = 0
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            line = begins_after + skipped + 1
            what = (
                "has a cell that is too long"
                if "limit" in str(error)
                else "has a quotation mark without its counterpart, or one that stands alone"
            )
            raise UnreadableList(f"the row that begins in line {line:,} {what}") from error
        if cells is None:
            return
        if any(map(str.strip, cells)):
            yield Record(begins_after + skipped + 1, cells)
            filled += 1
        elif (empty := empty + 1) > MOST_EMPTY_ROWS + EMPTY_FOR_EACH * filled:
            # A small file that is packed can hold hundreds of millions.
            line = reader.line_num + skipped
            raise UnreadableList(f"nearly all rows are empty, {empty:,} up to line {line:,}; delete the empty ones")
        begins_after = reader.line_num


def _lines(file: BinaryIO, codec: str) -> Generator[str]:
    """The lines of a text, which end in LF, CR LF or CR, each with its end."""
    file.seek(0)
    text = io.TextIOWrapper(file, encoding=codec, newline="")
    number = 1
    try:
        while piece := text.readline(LONGEST_LINE):
            if len(piece) == LONGEST_LINE and not piece.endswith(("\n", "\r")):
                raise UnreadableList(f"line {number:,} has more than {LONGEST_LINE:,} characters")
            yield piece.removeprefix("\ufeff") if number == 1 else piece
            number += 1
    except UnicodeDecodeError as error:
        raise UnreadableList(
            f"line {number:,} or one after it is not {encoding_name(codec)}; save the file again as CSV UTF-8"
        ) from error
    finally:
        with suppress(ValueError):  # whoever stopped reading may have closed the file
            text.detach()
