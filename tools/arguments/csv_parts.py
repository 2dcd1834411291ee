"""Cuts a list into parts that each fit one request, every part as the text of a CSV file with the header row."""

import csv
import io
import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from callwright.list_files.reading import ListFile, Record, open_list
from callwright.list_files.unreadable import UnreadableList

PART_BYTES = 900_000
"""Bytes of a part as JSON text. The service accepts requests up to 1,000,000."""
_LINE_BREAK = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class CsvPart:
    """A piece of the file, with commas between the columns. Rows count from 1, without the header and empty rows.

    In the first part of a file each row begins in the line in which it begins in the file.
    """

    csv: str
    first_row: int
    last_row: int
    ends_at: int
    """Bytes of the file that have been read so far."""
    lines: Mapping[int, int] = field(default_factory=dict[int, int], compare=False)
    """The line of the file in which each row begins, by its line in the part."""


def parts_of(
    file: BinaryIO,
    *,
    from_row: int = 1,
    part_bytes: int = PART_BYTES,
    country: str | None = None,
    column: str | None = None,
    with_hidden: bool = False,
) -> Generator[CsvPart]:
    """The parts of a file from a data row on, read lazily. Leaves the file open.

    `country`, `column` and `with_hidden` say how it is read, as in `open_list`.

    Raises:
        UnreadableList: it cannot be read, or has no row, or a row does not fit into a request.
    """
    opened = open_list(file, country=country, column=column, with_hidden=with_hidden)
    if not any(cell.strip() for cell in opened.header.cells):
        raise UnreadableList("it is empty; the first row has to name the columns")
    yield from _parts(file, opened, from_row, part_bytes)


def _parts(file: BinaryIO, opened: ListFile, from_row: int, part_bytes: int) -> Iterator[CsvPart]:
    header = _text(opened.header.cells)
    header_bytes = _json_bytes(header)
    kept: list[Record] = []
    texts: list[str] = []
    size, number, is_first = header_bytes, 0, True

    def part(last_row: int) -> CsvPart:
        before = [opened.header, *kept]
        gaps = _gaps(before, [header, *texts]) if is_first and from_row == 1 else [0] * len(before)
        text = "".join("\n" * gap + line for gap, line in zip(gaps, (header, *texts), strict=True))
        lines = _lines(before, gaps, [header, *texts])
        return CsvPart(text, last_row - len(kept) + 1, last_row, file.tell(), lines)

    for record in opened.rows:
        number += 1
        if number < from_row:
            continue
        text = _text(record.cells)
        more = _json_bytes(text) + 2 * max(record.line - (kept or [opened.header])[-1].line - 1, 0) * is_first
        if header_bytes + _json_bytes(text) > part_bytes:
            raise UnreadableList(
                f"row {number} is too large: with the header it has {header_bytes + _json_bytes(text):,} bytes"
            )
        if kept and size + more > part_bytes:
            yield part(number - 1)
            kept, texts, size, is_first, more = [], [], header_bytes, False, _json_bytes(text)
        kept.append(record)
        texts.append(text)
        size += more
    if not kept:
        raise UnreadableList(
            f"it has {number:,} data rows, so there is no row {from_row:,}"
            if number
            else "it has no row but the header"
        )
    yield part(number)


def _gaps(records: Sequence[Record], texts: Sequence[str]) -> list[int]:
    """The empty lines before each record that put it in the line in which it begins in the file."""
    gaps: list[int] = []
    line = 1
    for record, text in zip(records, texts, strict=True):
        gaps.append(max(record.line - line, 0))
        line += gaps[-1] + len(_LINE_BREAK.findall(text))
    return gaps


def _lines(records: Sequence[Record], gaps: Sequence[int], texts: Sequence[str]) -> Mapping[int, int]:
    """The line of the file in which each record begins, by its line in the part."""
    found: dict[int, int] = {}
    line = 1
    for record, gap, text in zip(records, gaps, texts, strict=True):
        found[line + gap] = record.line
        line += gap + len(_LINE_BREAK.findall(text))
    return found


def _text(cells: Sequence[str]) -> str:
    written = io.StringIO()
    # Before Python 3.13 the writer quotes a carriage return only if the line ends in one.
    csv.writer(written, lineterminator="\r\n").writerow(cells)
    return written.getvalue().removesuffix("\r\n") + "\n"


def _json_bytes(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode()) - 2
