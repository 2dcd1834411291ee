"""Reads numbers for the do-not-call list, and keeps what was read and what was refused."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from callwright.contract.do_not_call import NewEntry
from callwright.service.platform.clock.clock import milliseconds
from callwright.service.platform.phone import Undialable, masked
from callwright.service.rules.do_not_call.cells import numbers_in

_NO_COUNTRY = "the number does not begin with +; write it with + and the country's code, or give default_country"


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
    """Entries that were read, in their order. Of a file also how it was read, and what is not as it was written."""

    good: list[NumberToList] = field(default_factory=list[NumberToList])
    refused: list[RefusedEntry] = field(default_factory=list[RefusedEntry])
    read_as: str = ""
    number_columns: Sequence[str] = ()
    unread_number_columns: Sequence[str] = ()
    notices: Sequence[str] = ()

    @property
    def received(self) -> int:
        """How many numbers there were; a cell without one counts as one."""
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
        numbers, refused = read_numbers(entry.number, default_country, row_number)
        expires_ms = None if entry.expires_at is None else milliseconds(entry.expires_at)
        for number in numbers:
            read.add(NumberToList(number, entry.reason, entry.note, expires_ms, row_number))
        if refused is not None:
            read.add(refused)
    return read


def read_numbers(
    written: str, country: str | None, row_number: int, line: int | None = None
) -> tuple[list[str], RefusedEntry | None]:
    """The numbers of a cell in E.164, and what of it is refused."""
    numbers, wrong = numbers_in(written, country)
    return [number.e164 for number in numbers], None if wrong is None else _refused(wrong, written, row_number, line)


def _refused(wrong: Undialable, written: str, row_number: int, line: int | None) -> RefusedEntry:
    said = _NO_COUNTRY if wrong.code == "ambiguous_country" else wrong.message
    return RefusedEntry(row_number, "number", wrong.code, said, masked(written.strip()) or None, line)
