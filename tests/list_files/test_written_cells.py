"""Cells of CSV files that are written, read as spreadsheets of other countries split them."""

import csv
import io
import re

import pytest

from callwright.list_files.written_cells import csv_lines, safe_cell

FORMULA = re.compile(r'[\s"\u00a0]*[=+\-@＝＋－＠]')
TEXTS = (
    "=1+1", ";=1+1",
    "a;=1+1", 'a;"=1+1;b', "a; =1+1", "a\t=1+1", "a|@SUM(A1)", "a\n=1+1", "a\r\n-2+3", "a;＝1", "a,b;=1,2",
    '";=1+1"', "a;;=1", '"\n"=1', "a;-1+cmd|' /C calc'!A0", "\t=1",
)  # fmt: skip


def split_at(line: str, separator: str) -> list[str]:
    """The cells that a spreadsheet with another separator makes: quotation marks count where a cell begins."""
    return [cell for row in csv.reader(io.StringIO(line, newline=""), delimiter=separator) for cell in row]


@pytest.mark.requirement("EXPORT-02")
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("before", ["", "x", 'say "hi"', "one;two"])
def test_no_cell_is_a_formula_wherever_the_file_is_split(text: str, before: str) -> None:
    line = csv_lines([[safe_cell(before), safe_cell(text), safe_cell("last")]])
    for separator in (",", ";", "\t", "|"):
        assert not [cell for cell in split_at(line, separator) if FORMULA.match(cell)], (separator, line)
    assert split_at(line, ",")[2] == "last"


def test_what_can_only_be_a_number_and_ordinary_text_stay_as_they_are() -> None:
    for text in (
        "+12025550100",
        "-5",
        "a;-5;+12025550100",
        "Müller; Söhne",
        "a - b",
        "one;two",
        'say "no"',
        "",
        "2026-11-27",
    ):
        assert safe_cell(text) == text
    assert safe_cell("a,=1") == "a,=1"
    assert safe_cell("a,=1", commas=True) == "a,'=1"


def test_a_cell_with_any_separator_is_quoted_and_reads_back_as_it_was() -> None:
    rows = [["a;b", "c\td", "e|f", 'g"h', "i,j", "k\r\nl", "m"], [""], ["", ""]]
    text = csv_lines(rows)
    assert text.startswith('"a;b","c\td","e|f","g""h","i,j","k\r\nl",m\r\n""\r\n,\r\n')
    assert list(csv.reader(io.StringIO(text, newline=""))) == rows
