"""Reads numbers for the do-not-call list: those of a request, and those of a file."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from callwright.contract.checks.counts import count_of
from callwright.contract.declaration.field_types import Timestamp
from callwright.contract.do_not_call import ImportDoNotCall, NewEntry, Note, Reason
from callwright.list_files.phone_columns import LOOKED_AT, column_like, is_surely_number, phone_column_among
from callwright.list_files.reading import Record, open_list
from callwright.list_files.unreadable import UnreadableList
from callwright.service.platform.clock.clock import milliseconds
from callwright.service.platform.phone import Undialable, masked, read_number, redacted

REASONS: tuple[str, ...] = get_args(Reason)
_NOTE: TypeAdapter[str] = TypeAdapter(Note)
_MOMENT: TypeAdapter[datetime] = TypeAdapter(Timestamp)
_LONGEST_SHOWN = 60
_NO_COUNTRY = "the number does not begin with +; write it with + and the country's code, or give default_country"
_YES, _NO = ("true", "yes", "1"), ("false", "no", "0", "")


@dataclass(frozen=True)
class NumberToList:
    """A number to put on the list. `expires_ms` is None for an entry that holds for good."""

    number: str
    reason: str
    note: str = ""
    expires_ms: int | None = None
    row_number: int = 1
    line: int | None = None


@dataclass(frozen=True)
class RefusedEntry:
    """An entry that is refused, and why."""

    row_number: int
    field: str
    code: str
    message: str
    value_redacted: str | None = None
    line: int | None = None


@dataclass
class ReadEntries:
    """Entries that were read, in their order, and how their file was read."""

    good: list[NumberToList] = field(default_factory=list[NumberToList])
    refused: list[RefusedEntry] = field(default_factory=list[RefusedEntry])
    read_as: str = ""

    @property
    def received(self) -> int:
        """How many there were."""
        return len(self.good) + len(self.refused)

    def add(self, read: NumberToList | RefusedEntry) -> None:
        """Adds an entry to those of its kind."""
        if isinstance(read, NumberToList):
            self.good.append(read)
        else:
            self.refused.append(read)

    def refuse_those_that_are_over(self, now_ms: int) -> None:
        """Refuses entries that would end at once."""
        for entry in [one for one in self.good if one.expires_ms is not None and one.expires_ms <= now_ms]:
            said = "lies in the past; give a later moment, or none for an entry that holds for good"
            self.refused.append(RefusedEntry(entry.row_number, "expires_at", "already_over", said, line=entry.line))
        self.good = [one for one in self.good if one.expires_ms is None or one.expires_ms > now_ms]
        self.refused.sort(key=lambda one: one.row_number)


def read_entries(entries: Sequence[NewEntry], default_country: str | None) -> ReadEntries:
    """The entries of a request."""
    read = ReadEntries()
    for row_number, entry in enumerate(entries, 1):
        number = _number(entry.number, default_country, row_number)
        expires_ms = None if entry.expires_at is None else milliseconds(entry.expires_at)
        if isinstance(number, RefusedEntry):
            read.add(number)
        else:
            read.add(NumberToList(number, entry.reason, entry.note, expires_ms, row_number))
    return read


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
    columns = {name: column_like(name, header) for name in ("reason", "note", "expires_at", "simulated")}
    columns["number"] = _number_column(asked.number_column, header, records)
    read = ReadEntries(read_as=opened.read_as)
    for row_number, (line, cells) in enumerate(records, 1):
        if len(cells) != len(header):
            said = f"the row has {count_of(len(cells), 'cell')}, the header {len(header)}"
            read.add(RefusedEntry(row_number, "row", "column_count_mismatch", said, line=line))
            continue
        row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
        given = {name: row[column] for name, column in columns.items() if column is not None}
        read.add(_row(given, asked, row_number, line))
    return read


def _row(cells: Mapping[str, str], asked: ImportDoNotCall, row_number: int, line: int) -> NumberToList | RefusedEntry:
    def refused(name: str, code: str, message: str) -> RefusedEntry:
        value = redacted(cells[name][:_LONGEST_SHOWN])
        return RefusedEntry(row_number, name, code, message, value or None, line)

    number = _number(cells["number"], asked.default_country, row_number, line)
    if isinstance(number, RefusedEntry):
        return number
    simulated = cells.get("simulated", "").lower()
    if simulated in (_NO[:-1] if asked.simulated else _YES):
        other = "the real list" if asked.simulated else "the simulated network's list"
        said = f"the row is of {other}; import it with simulated={'false' if asked.simulated else 'true'}"
        return refused("simulated", "other_list", said)
    if simulated not in (*_YES, *_NO):
        return refused("simulated", "other_list", "should be true, false or empty")
    reason = cells.get("reason", "").lower() or asked.reason
    if reason not in REASONS:
        return refused("reason", "invalid_reason", f"should be empty or one of {', '.join(REASONS)}")
    try:
        note = _NOTE.validate_python(cells.get("note", ""))
    except ValidationError:
        return refused("note", "invalid_note", "has more than 2,000 characters, or one that nobody can see")
    try:
        ends = cells.get("expires_at", "")
        expires_ms = milliseconds(_MOMENT.validate_python(ends)) if ends else None
    except ValidationError:
        return refused("expires_at", "invalid_time", "should be empty or a moment such as 2027-01-31T00:00:00Z")
    return NumberToList(number, reason, note, expires_ms, row_number, line)


def _number(written: str, country: str | None, row_number: int, line: int | None = None) -> str | RefusedEntry:
    read = read_number(written, country)
    if isinstance(read, Undialable):
        said = _NO_COUNTRY if read.code == "ambiguous_country" else read.message
        return RefusedEntry(row_number, "number", read.code, said, masked(written.strip()) or None, line)
    return read.e164


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
