"""Field types of the rows of an audience: the name of a column, a row, a file."""

import base64
import binascii
from typing import Annotated, Any, cast

from pydantic import AfterValidator, Field, JsonValue, ValidatorFunctionWrapHandler, WrapValidator

from callwright.contract.checks.names import SeenLines
from callwright.contract.declaration.field_types import PlainText, check_unicode
from callwright.contract.declaration.marks import PERSONAL, SECRET, ColumnText, OwnText

MOST_CELLS = 1_000
_EXACT = 2**64
"""Readers of JSON make a whole number of so much and more a fraction, whose last digits are others."""
_NUMBERS = frozenset[type]({int, float})


def _as_it_is_stored(row: dict[str, JsonValue]) -> dict[str, JsonValue]:
    check_unicode(*row, *[cell for cell in row.values() if isinstance(cell, str)])
    if not _NUMBERS.isdisjoint(map(type, row.values())) and any(
        type(cell) in _NUMBERS and abs(cast("float", cell)) >= _EXACT for cell in row.values()
    ):
        raise ValueError("holds a number of more than 19 digits, whose last ones would be lost; send it as text")
    return row


def _checked(row: object, check: ValidatorFunctionWrapHandler) -> dict[str, JsonValue]:
    """Checks a row. Of texts alone, as most are, no cell is looked at by itself: a request has a hundred thousand."""
    if isinstance(row, dict) and len(cast("dict[Any, Any]", row)) <= MOST_CELLS:
        cells = cast("dict[str, str]", row)
        try:
            check_unicode("".join(cells), "".join(cells.values()))
        except TypeError:
            return check(cells)
        return {**cells}
    return check(row)


ColumnName = Annotated[ColumnText, Field(min_length=1, max_length=100, examples=["first_name"]), PlainText, SeenLines]
Row = Annotated[
    dict[str, JsonValue],
    PERSONAL,
    Field(
        max_length=MOST_CELLS,
        description="Column name to value: the phone column and whatever the prompt needs, for example first_name.",
    ),
    AfterValidator(_as_it_is_stored),
    WrapValidator(_checked),
]
"""More than 100 columns are too many for a row, which is then refused by itself; this bound is the request's."""
RowList = Annotated[list[Row], Field(min_length=1, max_length=1_000, description="1 to 1,000 rows.")]
CsvText = Annotated[
    str,
    PERSONAL,
    Field(
        min_length=1,
        max_length=1_000_000,
        description="The text of a CSV file, header row first.",
        examples=["phone_number,first_name\n+12025550100,Ada\n"],
    ),
    PlainText,
]


def _checked_base64(value: str) -> str:
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is not Base64 (RFC 4648, section 4): send the file's bytes in that encoding") from None
    return value


FileBytes = Annotated[
    str,
    PERSONAL,
    Field(
        min_length=4,
        max_length=990_000,
        description="The bytes of a CSV or XLSX file in Base64 (RFC 4648); a file of up to 740,000 bytes.",
        examples=["TmFtZTtUZWxlZm9uCk38bGxlcjswMTcxIDIzNDU2NzgK"],
        json_schema_extra={"contentEncoding": "base64"},
    ),
    AfterValidator(_checked_base64),
]
"""The file as it is: of text, the service finds out the encoding."""
FileUrl = Annotated[
    OwnText,
    SECRET,
    Field(
        min_length=1,
        max_length=2_048,
        description=(
            "HTTPS address from which the service fetches the file. No credentials but in its query, no fragment, no "
            "private address. It is in no answer and no log, and is forgotten when the file is there."
        ),
        examples=["https://files.example.com/people.csv?token=xyz"],
    ),
    PlainText,
]
