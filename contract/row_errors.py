"""Rows of a file that could not be taken."""

from typing import Annotated

from pydantic import Field

from callwright.contract.declaration.marks import PERSONAL, Cell, ColumnText, OwnText, QuotedText
from callwright.contract.declaration.model import Resource


class RowError(Resource):
    """A row that could not be taken, and why."""

    row_number: Annotated[int, Field(description="Row in the upload, from 1 for the first data row.")]
    line: Annotated[
        int | None, Field(description="Of a file: the line in which the row begins, from 1; in XLSX the sheet's row.")
    ] = None
    external_id: Annotated[Cell | None, Field(description="The list's own id of the person, where it has one.")] = None
    column: ColumnText | None = None
    code: Annotated[
        OwnText,
        Field(
            description=(
                "missing_phone, invalid_phone, spreadsheet_damage, several_numbers, ambiguous_country, not_dialable, "
                "duplicate_in_file, duplicate_in_audience, column_count_mismatch, cell_too_long, bad_type, "
                "bad_encoding, bad_column_name, invalid_timezone, invalid_priority, invalid_not_before, "
                "invalid_language or invalid_steering."
            )
        ),
    ]
    message: Annotated[QuotedText, PERSONAL]
    value_redacted: Annotated[
        QuotedText | None,
        Field(
            description=(
                "The refused value: in the phone column with its middle masked, in others with the middle of its "
                "digits masked where it has five and more."
            )
        ),
        PERSONAL,
    ] = None
