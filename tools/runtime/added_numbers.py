"""Parses the telephone numbers of people who are looked for in an audience or added to it, as the service does."""

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import BinaryIO, NamedTuple

from anyio import to_thread

from callwright.client.errors import CallwrightError
from callwright.contract.audiences import (
    AddAudienceRows,
    CreateAudience,
    GetAudience,
    ImportAudience,
    ListAudienceRows,
    get_audience,
)
from callwright.contract.declaration.model import Input
from callwright.list_files.number_texts import plainly_written
from callwright.list_files.phone_columns import cell_text, column_like, phone_column_of
from callwright.list_files.reading import ListFile, open_list, open_text
from callwright.tools.numbers.masking import is_of_telephones
from callwright.tools.numbers.national_numbers import hidden_number
from callwright.tools.numbers.number_repair import E164
from callwright.tools.runtime.tool_context import Caller

BATCH_ROWS = 20_000
"""Rows of a file that are looked at together."""
_LONGEST = 60
"""Characters of a cell that the service reads."""
_FEWEST_DIGITS = 9
"""The fewest digits in a cell, if no column is known to be the telephone column."""
_FEWEST_HIDDEN = 5
"""Texts with fewer digits are never masked."""
_SAID = ("phone_column", "default_country", "external_id_column", "dedupe")


class RowSettings(NamedTuple):
    """How an audience reads its rows, as far as it is known."""

    column: str | None = None
    country: str | None = None
    external_id_column: str | None = None
    dedupe: str | None = None


async def looked_for_number(caller: Caller, asked: Input) -> str | None:
    """The number by which a request looks for a row as an external id; None if it is none or is not masked."""
    if not isinstance(asked, ListAudienceRows) or asked.external_id is None:
        return None
    if sum(character.isdigit() for character in asked.external_id) < _FEWEST_HIDDEN:
        return None
    reads = await row_settings(caller, asked.id)
    return _hidden_id(reads, asked.external_id)


async def added_numbers(caller: Caller, asked: Input) -> list[str]:
    """The numbers in the rows of a request to the service; none if it adds nobody.

    Numbers to call are in E.164. Where external ids tell people apart, external ids that are masked, or may be, are
    included. The audience is read for its columns and its country. If it does not state them, every cell of a telephone
    column counts, and if there is no such column, every cell.
    """
    if isinstance(asked, CreateAudience):
        reads = RowSettings(asked.phone_column, asked.default_country, asked.external_id_column, asked.dedupe)
        return _in_rows(asked.rows, reads)
    if not isinstance(asked, AddAudienceRows | ImportAudience):
        return []
    reads = await row_settings(caller, asked.id)
    if isinstance(asked, AddAudienceRows):
        return _in_rows(asked.rows, reads)
    return await to_thread.run_sync(_in_file, asked, reads)


async def row_settings(caller: Caller, audience_id: str) -> RowSettings:
    """How an audience reads its rows, as far as the service says."""
    try:
        found = (await caller.ask_lenient(get_audience, GetAudience(id=audience_id))).data
    except CallwrightError:
        return RowSettings()
    said = {name: value for name in _SAID if isinstance(value := found.get(name), str)}
    return RowSettings(*(said.get(name) for name in _SAID))


def _hidden_id(reads: RowSettings, external_id: str) -> str | None:
    column = reads.external_id_column or ""
    return hidden_number("phone" if column and column == reads.column else column, external_id)


def _in_file(asked: ImportAudience, reads: RowSettings) -> list[str]:
    try:
        opened = _opened(asked, reads)
        names = [name.strip() for name in opened.header.cells]
        return _in_rows([dict(zip(names, row.cells, strict=False)) for row in opened.rows], reads)
    except ValueError:  # the service will refuse it
        return []


def numbers_in_file(file: BinaryIO, reads: RowSettings, *, after: int = 0) -> Iterator[list[str]]:
    """The numbers in a file as in `added_numbers`, a batch of rows at a time: a list may have millions. Those of the
    first `after` rows are left out.

    Raises:
        UnreadableList: it cannot be read to its end.
    """
    opened = open_list(file, country=reads.country, column=reads.column)
    names = [name.strip() for name in opened.header.cells]
    records = islice(opened.rows, after, None)
    while batch := list(islice(records, BATCH_ROWS)):
        place = names.index(reads.column) if reads.column in names and reads.dedupe != "external_id" else None
        if place is None:
            rows = [dict(zip(names, row.cells, strict=False)) for row in batch]
            reads = reads._replace(column=reads.column or phone_column_of(rows))
            yield _in_rows(rows, reads)
        else:  # the same in a fraction of the time
            cells = (row.cells[place].strip() for row in batch if len(row.cells) > place)
            read = (_read(cell, reads.country, 1) for cell in cells if cell)
            yield [number for number in read if number is not None]


def _opened(asked: ImportAudience, reads: RowSettings) -> ListFile:
    if asked.file is None:
        return open_text(asked.csv or "")
    return open_list(io.BytesIO(base64.b64decode(asked.file)), country=reads.country, column=reads.column)


def _in_rows(rows: Sequence[Mapping[str, object]], reads: RowSettings) -> list[str]:
    wanted = reads.column or phone_column_of(rows)
    names = {name for row in rows for name in row}
    there = {name for name in names if name.strip() == wanted.strip()}
    fewest = 1 if there else _FEWEST_DIGITS
    there = there or {name for name in names if is_of_telephones(name)} or names
    cells = ((cell_text(row.get(name)) or "").strip() for row in rows for name in there)
    read = (_read(cell, reads.country, fewest) for cell in cells if cell)
    return [number for number in (*read, *_external_ids(rows, reads)) if number is not None]


def _external_ids(rows: Sequence[Mapping[str, object]], reads: RowSettings) -> list[str | None]:
    """Numbers among the external ids, if the count of duplicates would reveal which of them exist."""
    if reads.dedupe != "external_id" or (named := reads.external_id_column) is None:
        return []
    column = column_like(named, {name: None for row in rows for name in row}) or named
    cells = ((cell_text(row.get(column)) or "").strip() for row in rows)
    return [_hidden_id(reads, cell) for cell in cells if cell]


def _read(cell: str, country: str | None, fewest: int) -> str | None:
    """A cell in E.164 if it can be a number at all. Letters of a keypad are read as digits, as in the service."""
    cell = plainly_written(cell)
    if E164.fullmatch(cell):
        return cell
    digits = "".join(character for character in cell if character.isdecimal())
    if len(digits) < fewest:
        return None
    import phonenumbers

    try:
        number = phonenumbers.parse(cell[:_LONGEST], country)
    except phonenumbers.NumberParseException:
        return f"+{int(digits)}" if len(digits) >= _FEWEST_DIGITS else None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
