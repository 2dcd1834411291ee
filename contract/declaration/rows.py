"""Field types of the rows of an audience: the name of a column, a row, a file."""

from typing import Annotated, cast

from pydantic import AfterValidator, Field, JsonValue

from callwright.contract.checks.csv_text import with_commas
from callwright.contract.checks.names import SeenLines
from callwright.contract.declaration.field_types import PlainText, check_unicode
from callwright.contract.declaration.marks import PERSONAL, ColumnText

_EXACT = 2**64
"""Readers of JSON make a whole number of so much and more a fraction, whose last digits are others."""
_NUMBERS = frozenset[type]({int, float})


def _as_it_is_stored(row: dict[str, JsonValue]) -> dict[str, JsonValue]:
    check_unicode(*row, *(cell for cell in row.values() if isinstance(cell, str)))
    if not _NUMBERS.isdisjoint(map(type, row.values())) and any(
        type(cell) in _NUMBERS and abs(cast("float", cell)) >= _EXACT for cell in row.values()
    ):
        raise ValueError("holds a number of more than 19 digits, whose last ones would be lost; send it as text")
    return row


ColumnName = Annotated[ColumnText, Field(min_length=1, max_length=100, examples=["first_name"]), PlainText, SeenLines]
Row = Annotated[
    dict[str, JsonValue],
    PERSONAL,
    Field(
        max_length=1_000,
        description="Column name to value: the phone column and whatever the prompt needs, for example first_name.",
    ),
    AfterValidator(_as_it_is_stored),
]
"""More than 100 columns are too many for a row, which is then refused by itself; this bound is the request's."""
RowList = Annotated[list[Row], Field(min_length=1, max_length=1_000, description="1 to 1,000 rows.")]
CsvText = Annotated[
    str,
    PERSONAL,
    Field(
        min_length=1,
        max_length=1_000_000,
        description="The file's text, header row first, columns separated by commas, up to about 1 MB.",
        examples=["phone_number,first_name\n+12025550100,Ada\n"],
    ),
    PlainText,
    AfterValidator(with_commas),
]
