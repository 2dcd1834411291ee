"""Lists with a title above the row that names the columns."""

import io

import pytest
from openpyxl import Workbook

from callwright.list_files.reading import ListFile, open_list

_TABLE = "Name;Telefon\nAda;+4930901820\nBob, Jr;+4930901821\n"


def opened(text: str) -> ListFile:
    return open_list(io.BytesIO(text.encode()))


@pytest.mark.parametrize(
    ("above", "said"),
    [
        ("Kunden 2026\n", "the row"),
        ("Kunden 2026;\n\nStand: Mai\n", "the 2 rows"),
        ("x\n" * 9, "the 9 rows"),
    ],
)
def test_rows_with_a_title_are_passed_over_and_lines_are_those_of_the_file(above: str, said: str) -> None:
    found = opened(above + _TABLE)
    assert found.header == (above.count("\n") + 1, ["Name", "Telefon"])
    assert [row.cells for row in found.rows] == [["Ada", "+4930901820"], ["Bob, Jr", "+4930901821"]]
    assert found.read_as == f"CSV, UTF-8, semicolons, without {said} above the header"


def test_a_merged_title_of_a_sheet_is_passed_over() -> None:
    book, data = Workbook(), io.BytesIO()
    sheet = book.worksheets[0]
    for row in (["Customers", None, None], ["Name", "Phone", "City"], ["Ada", "+12025550100"]):
        sheet.append(row)
    sheet.merge_cells("A1:C1")
    book.save(data)
    found = open_list(data)
    assert found.header == (2, ["Name", "Phone", "City"])
    assert list(found.rows) == [(3, ["Ada", "+12025550100", ""])]
    assert found.read_as == "XLSX, without the row above the header"


@pytest.mark.parametrize(
    ("above", "said"),
    [
        ("Person,,Address,\n", "the row"),
        ("Contact,,Address,\n", "the row"),
        ("Customers 2026\n,Contact,,Address\n", "the 2 rows"),
        ("Customers,,as of May,\n", "the row"),
    ],
)
def test_a_row_that_names_groups_of_columns_is_passed_over(above: str, said: str) -> None:
    found = opened(f"{above}Name,Phone,Street,City\nAda,+12025550100,Main St,Rome\n")
    assert found.header.cells == ["Name", "Phone", "Street", "City"]
    assert [row.cells for row in found.rows] == [["Ada", "+12025550100", "Main St", "Rome"]]
    assert found.read_as.endswith(f"without {said} above the header")


@pytest.mark.parametrize(
    "text",
    [
        "Name,Value,,Kind\nAda,2025550100,x,mobile\n",
        "Name,,Phone\nAda,contact,+12025550100\n",
        "phone\n+12025550100\n+12025550101,x\n",
        "name\nAda\nBob,x\n",
        "phone\nname,phone\n",
        "x\n" * 10 + "name,phone\n",
    ],
)
def test_where_no_row_below_is_a_header_the_first_row_is_it(text: str) -> None:
    assert opened(text).header == (1, text.split("\n", 1)[0].split(","))
