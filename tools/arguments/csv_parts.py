"""Splits a CSV file into parts that each fit one request, every part with the header row.

Records are split by the same reader as in the service, so a line break in quotes never ends one.
"""

import csv
import io
import json
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO

from callwright.contract.checks.csv_text import is_empty, other_separator, separator_said

PART_BYTES = 900_000
"""Bytes of a part as JSON text. The service accepts requests up to 1,000,000."""

_SAVE = "Save it as UTF-8 (in a spreadsheet: CSV UTF-8, comma separated) and call again"


class UnreadableFile(Exception):
    """The file cannot be imported. The text says what to do about it."""


@dataclass(frozen=True)
class CsvPart:
    """A piece of the file. Rows count from 1, without the header and without empty rows."""

    csv: str
    first_row: int
    last_row: int
    ends_at: int
    """Bytes of the file that have been read so far."""


class _RecordLines:
    """Lines of a text for a reader, kept until a record is complete."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._kept: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._text.readline(PART_BYTES)
        if not line:
            raise StopIteration
        if len(line) == PART_BYTES and not line.endswith("\n"):
            raise UnreadableFile(f"it has a line of more than {PART_BYTES:,} characters")
        self._kept.append(line)
        return line

    def taken(self) -> str:
        """The lines since the last call, as they are in the file, with a line break at their end."""
        text = "".join(self._kept)
        self._kept.clear()
        return text if text.endswith("\n") else f"{text}\n"


def parts_of(file: BinaryIO, *, from_row: int = 1, part_bytes: int = PART_BYTES) -> Generator[CsvPart]:
    """The parts of a file from a data row on, read lazily. Leaves the file open.

    Raises:
        UnreadableFile: it is not UTF-8, or not CSV with commas, or has no row, or a row does not fit into a request.
    """
    file.seek(0)
    with closing(_records(file)) as records:
        yield from _parts(file, records, from_row, part_bytes)


def _parts(file: BinaryIO, records: Iterator[str], from_row: int, part_bytes: int) -> Iterator[CsvPart]:
    header = next(records, None)
    if header is None:
        raise UnreadableFile("it is empty; the first row has to name the columns")
    if (separator := other_separator(header)) is not None:
        raise UnreadableFile(separator_said(separator))
    header_bytes = _json_bytes(header)
    rows: list[str] = []
    size, number = header_bytes, 0
    for record in records:
        number += 1
        if number < from_row:
            continue
        more = _json_bytes(record)
        if header_bytes + more > part_bytes:
            raise UnreadableFile(f"row {number} is too large: with the header it has {header_bytes + more:,} bytes")
        if rows and size + more > part_bytes:
            yield CsvPart(header + "".join(rows), number - len(rows), number - 1, file.tell())
            rows, size = [], header_bytes
        rows.append(record)
        size += more
    if not rows:
        raise UnreadableFile(
            f"it has {number:,} data rows, so there is no row {from_row:,}"
            if number
            else "it has no row but the header"
        )
    yield CsvPart(header + "".join(rows), number - len(rows) + 1, number, file.tell())


def _records(file: BinaryIO) -> Generator[str]:
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n")
    lines = _RecordLines(text)
    reader = csv.reader(lines, strict=True)
    try:
        for cells in reader:
            record = lines.taken()
            if "\x00" in record:
                raise UnreadableFile(f"line {reader.line_num:,} holds the character NUL. {_SAVE}")
            if not is_empty(cells):
                yield record
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"it is not UTF-8. {_SAVE}") from error
    except csv.Error as error:
        raise UnreadableFile(f"it is not CSV near line {reader.line_num:,}: {error}") from error
    finally:
        text.detach()


def _json_bytes(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode()) - 2
