"""Reads the file of a do-not-call list: which columns hold numbers, and what each row says of them."""

import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from callwright.contract.checks.counts import count_of
from callwright.contract.checks.names import LONGEST_NOTE
from callwright.contract.checks.row_notices import RowNotice
from callwright.contract.do_not_call import ImportDoNotCall
from callwright.list_files.phone_columns import (
    LOOKED_AT,
    column_like,
    is_surely_number,
    named_for_numbers,
    phone_column_among,
)
from callwright.list_files.reading import Record, open_list
from callwright.list_files.unreadable import UnreadableList
from callwright.service.platform.phone import redacted
from callwright.service.rules.do_not_call.cells import (
    OTHER,
    end_ms_of,
    note_of,
    numbers_in,
    reason_of,
    yes_or_no,
)
from callwright.service.rules.do_not_call.entries import NumberToList, ReadEntries, RefusedEntry, read_numbers

_READ = ("reason", "note", "expires_at", "simulated")
"""The columns that are read beside those of numbers."""
_LONGEST_SHOWN = 60
_TELLING_DIGITS = 7
"""A cell beside a number that was read is a number too if it has so many digits."""
_HALF, _MOSTLY = 0.5, 0.8
_NOTICES: Mapping[str, str] = {
    "expires_at": "expires_at cannot be read, so that the numbers are on the list for good",
    "reason": "the reason is none of the known ones; it is taken as other and kept in the note",
    "note": f"the note was cut to {LONGEST_NOTE:,} characters, or hidden characters were left out",
}
"""What is said of rows whose entries are not as they were written, by the column."""


@dataclass
class _Notices:
    """The lines of rows whose entries are not as they were written, by the column."""

    lines: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict[str, list[int]](list))

    def said(self) -> Iterator[str]:
        """A sentence for each column."""
        for column, what in _NOTICES.items():
            if lines := self.lines[column]:
                yield str(RowNotice(what, len(lines), lines))


def read_file(asked: ImportDoNotCall) -> ReadEntries:
    """The entries of a file.

    Raises:
        UnreadableList: it cannot be imported; the text says why.
    """
    opened = open_list(io.BytesIO(asked.csv.encode()), country=asked.default_country)
    header = [name.strip() for name in opened.header.cells]
    records = list(opened.rows)
    if not records:
        raise UnreadableList("the file needs a header row and at least one data row")
    _check_header(header)
    columns = {name: column_like(name, header) for name in _READ}
    main = _number_column(asked.number_column, header, records)
    others = [name for name in header if name and name != main and name not in columns.values()]
    others = [name for name in others if _holds_numbers(name, header, records, asked.default_country)]
    reads_all = asked.number_column is None
    of_numbers = [main, *others] if reads_all else [main]
    read = ReadEntries(
        read_as=opened.read_as, number_columns=of_numbers, unread_number_columns=() if reads_all else others
    )
    notices = _Notices()
    for row_number, (line, cells) in enumerate(records, 1):
        if len(cells) != len(header):
            said = f"the row has {count_of(len(cells), 'cell')}, the header {len(header)}"
            read.add(RefusedEntry(row_number, "row", "column_count_mismatch", said, line=line))
            continue
        row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
        given = {name: row[column] for name, column in columns.items() if column is not None}
        for one in _row([row[name] for name in of_numbers], given, asked, row_number, line, notices):
            read.add(one)
    read.notices = list(notices.said())
    return read


def _row(
    written: Sequence[str],
    cells: Mapping[str, str],
    asked: ImportDoNotCall,
    row_number: int,
    line: int,
    notices: _Notices,
) -> Iterator[NumberToList | RefusedEntry]:
    """An entry for each number of a row, and what of it is refused."""
    numbers, refused = _numbers(written, asked.default_country, row_number, line)
    yield from refused
    if not numbers:
        return
    if (wrong := _other_list(cells.get("simulated", ""), asked)) is not None:
        value = redacted(cells["simulated"][:_LONGEST_SHOWN])
        yield RefusedEntry(row_number, "simulated", "other_list", wrong, value, line)
        return
    text, ends = cells.get("reason", ""), cells.get("expires_at", "")
    reason = reason_of(text) if text else asked.reason
    note, is_whole = note_of(cells.get("note", ""), "" if reason else text)
    expires_ms = end_ms_of(ends) if ends else None
    for column, is_other in (
        ("reason", reason is None),
        ("note", not is_whole),
        ("expires_at", bool(ends) and expires_ms is None),
    ):
        if is_other:
            notices.lines[column].append(line)
    for number in numbers:
        yield NumberToList(number, reason or OTHER, note, expires_ms, row_number, line)


def _numbers(
    written: Sequence[str], country: str | None, row_number: int, line: int
) -> tuple[list[str], list[RefusedEntry]]:
    """The numbers of a row, each once, and the cells that should be numbers and are none."""
    found: dict[str, None] = {}
    refused: list[RefusedEntry] = []
    for cell in written:
        numbers, wrong = read_numbers(cell, country, row_number, line)
        found |= dict.fromkeys(numbers)
        if wrong is not None and (numbers or sum(map(str.isdigit, cell)) >= _TELLING_DIGITS):
            refused.append(wrong)
    if not found and not refused:
        filled = next((cell for cell in written if cell), "")
        wrong = read_numbers(filled, country, row_number, line)[1]
        refused = [] if wrong is None else [wrong]
    return list(found), refused


def _other_list(word: str, asked: ImportDoNotCall) -> str | None:
    """What is wrong with the word that says which list a row is of; None if nothing is."""
    if not word:
        return None
    simulated = yes_or_no(word)
    if simulated is None:
        return "should be true, false or empty"
    if simulated is asked.simulated:
        return None
    other = "the real list" if asked.simulated else "the simulated network's list"
    return f"the row is of {other}; import it with simulated={'false' if asked.simulated else 'true'}"


def _check_header(header: Sequence[str]) -> None:
    for place, name in enumerate(header, 1):
        if is_surely_number(name):
            raise UnreadableList(
                f"the first row names the columns, and column {place} of it is a telephone number; put a row with the "
                "names first"
            )
        if name and name in header[: place - 1]:
            raise UnreadableList(f"column {place} of the header has the name of an earlier one")


def _number_column(wanted: str | None, header: Sequence[str], records: Sequence[Record]) -> str:
    rows: list[dict[str, Any]] = [dict(zip(header, one.cells, strict=False)) for one in records[:LOOKED_AT]]
    found = column_like(wanted, header) if wanted is not None else phone_column_among(header, rows)
    if found is None:
        why = "no column has this name" if wanted is not None else "no column looks like one of telephone numbers"
        raise UnreadableList(f"{why}; name one of the header as number_column")
    return found


def _holds_numbers(name: str, header: Sequence[str], records: Sequence[Record], country: str | None) -> bool:
    """Whether a further column clearly holds numbers: half of its first cells if it is named for them, else most."""
    place = header.index(name)
    each = (one.cells[place].strip() for one in records if len(one.cells) == len(header))
    filled = list(islice((cell for cell in each if cell), LOOKED_AT))
    named = named_for_numbers(name)
    count = sum((named or is_surely_number(cell)) and bool(numbers_in(cell, country)[0]) for cell in filled)
    return count > 0 and count >= (_HALF if named else _MOSTLY) * len(filled)
