"""Cells of a sheet as a person sees them."""

import io
from typing import Any

import pytest
from openpyxl import Workbook

from callwright.list_files.reading import open_list


def read(value: Any, number_format: str | None = None) -> str:
    """What is read of a cell."""
    book, data = Workbook(), io.BytesIO()
    sheet = book.worksheets[0]
    sheet.cell(1, 1, "phone")
    cell = sheet.cell(2, 1, value)
    if number_format is not None:
        cell.number_format = number_format
    book.save(data)
    (row,) = open_list(data).rows
    return row.cells[0]


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (1067, "00000", "01067"),
        (1067.0, "00000", "01067"),
        (1067, "[$-407]00000", "01067"),
        (42, '"C-"000000', "C-000042"),
        (491711234567, "+0", "+491711234567"),
        (1067, "0", "1067"),
        (1067, "0.00", "1067"),
        (1067, "#,##0", "1067"),
        (1067, "General", "1067"),
        (-5, "000", "-5"),
        (1.5, "000", "1.5"),
        (True, "000", "true"),
    ],
)
def test_a_number_keeps_the_zeros_in_front_that_the_sheet_shows(value: Any, number_format: str, text: str) -> None:
    assert read(value, number_format) == text


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ("line_x000D_\nnext", "line\r\nnext"),
        ("_xD83D__xDE00_ _x0041_b", "😀 Ab"),
        ("_xD83D_", "\ufffd"),
        ("plain_x00_ _xtext_", "plain_x00_ _xtext_"),
    ],
)
def test_an_escaped_character_of_a_text_is_that_character(stored: str, text: str) -> None:
    assert read(stored) == text
