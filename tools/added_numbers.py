"""The telephone numbers of people who are about to be added to an audience, read as the service reads them."""

from collections.abc import Mapping, Sequence

from anyio import to_thread

from callwright.client.errors import CallwrightError
from callwright.contract.audiences import AddAudienceRows, CreateAudience, GetAudience, ImportAudience, get_audience
from callwright.contract.csv_text import records
from callwright.contract.model import Input
from callwright.contract.phone_columns import cell_text, phone_column_of

from .number_repair import E164
from .privacy import is_of_telephones
from .use import Caller

_LONGEST = 60
"""Characters of a cell that the service reads."""
_FEWEST_DIGITS = 9
"""Of a cell in a column of which nobody said that it is the one of numbers."""


async def added_numbers(caller: Caller, asked: Input) -> list[str]:
    """The numbers in the rows of a question to the service, in E.164; none where it adds nobody.

    The audience is read to know its column of numbers and its country. Where it does not tell, every cell counts that
    stands in a column of telephones, and where there is none, every cell.
    """
    if isinstance(asked, CreateAudience):
        return _in_rows(asked.rows, asked.phone_column, asked.default_country)
    if not isinstance(asked, AddAudienceRows | ImportAudience):
        return []
    column, country = await _reads(caller, asked.id)
    if isinstance(asked, AddAudienceRows):
        return _in_rows(asked.rows, column, country)
    return await to_thread.run_sync(_in_csv, asked.csv, column, country)


async def _reads(caller: Caller, audience_id: str) -> tuple[str | None, str | None]:
    try:
        found = (await caller.ask_loosely(get_audience, GetAudience(id=audience_id))).data
    except CallwrightError:
        return None, None
    column, country = found.get("phone_column"), found.get("default_country")
    return column if isinstance(column, str) else None, country if isinstance(country, str) else None


def _in_csv(text: str, column: str | None, country: str | None) -> list[str]:
    try:
        header, *rows = records(text)
    except ValueError:  # the service takes nothing of it
        return []
    names = [name.strip() for name in header]
    return _in_rows([dict(zip(names, row, strict=False)) for row in rows], column, country)


def _in_rows(rows: Sequence[Mapping[str, object]], column: str | None, country: str | None) -> list[str]:
    wanted = column or phone_column_of(rows)
    names = {name for row in rows for name in row}
    there = {name for name in names if name.strip() == wanted.strip()}
    fewest = 1 if there else _FEWEST_DIGITS
    there = there or {name for name in names if is_of_telephones(name)} or names
    cells = ((cell_text(row.get(name)) or "").strip() for row in rows for name in there)
    read = (_read(cell, country, fewest) for cell in cells if cell)
    return [number for number in read if number is not None]


def _read(cell: str, country: str | None, fewest: int) -> str | None:
    """A cell in E.164 where it can be a number at all. Letters of a keypad stand for digits, as in the service."""
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
