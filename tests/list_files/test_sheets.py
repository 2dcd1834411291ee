"""Which sheet of a workbook is read, which of its rows, and what is said of the others."""

import io
import re
import zipfile
from collections.abc import Callable, Sequence

import pytest
from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from callwright.list_files import sheet_marks
from callwright.list_files.reading import LONGEST_READ_AS, ListFile, open_list
from callwright.list_files.texts import text_of
from callwright.list_files.unreadable import UnreadableList

Rows = Sequence[Sequence[object]]
LIST: Rows = (("Name", "Phone"), ("Ada", "+12025550100"), ("Bob", "+12025550101"), ("Cy", "+12025550102"))
OTHER: Rows = (("Name", "Phone"), ("Old", "+12025550199"))
COVER: Rows = (("Customer list 2026",), ("as of May",))


def workbook(sheets: dict[str, Rows], change: Callable[[dict[str, Worksheet]], None] = lambda _: None) -> io.BytesIO:
    """A file with these sheets; `change` gets them by name before it is written."""
    book, data = Workbook(), io.BytesIO()
    book.remove(book.worksheets[0])
    made: dict[str, Worksheet] = {}
    for name, rows in sheets.items():
        made[name] = book.create_sheet(name)
        for row in rows:
            made[name].append(list(row))
    change(made)
    book.save(data)
    return data


def rewritten(data: io.BytesIO, part: str, change: Callable[[bytes], bytes]) -> io.BytesIO:
    """The file with another content of a part."""
    made = io.BytesIO()
    with zipfile.ZipFile(data) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name == part else old.read(name))
    return made


def names_in(opened: ListFile) -> list[str]:
    return [row.cells[0] for row in opened.rows]


def hidden(*names: str) -> Callable[[dict[str, Worksheet]], None]:
    """Hides sheets."""

    def hide(sheets: dict[str, Worksheet]) -> None:
        for name in names:
            sheets[name].sheet_state = "hidden"

    return hide


def without_rows(*numbers: int) -> Callable[[dict[str, Worksheet]], None]:
    """Hides rows of the first sheet, as a filter does."""

    def hide(sheets: dict[str, Worksheet]) -> None:
        for number in numbers:
            next(iter(sheets.values())).row_dimensions[number].hidden = True

    return hide


def test_a_hidden_sheet_is_not_read_and_it_is_said_which_one_was() -> None:
    opened = open_list(workbook({"alt": OTHER, "neu": LIST}, hidden("alt")))
    assert names_in(opened) == ["Ada", "Bob", "Cy"]
    assert opened.read_as == "XLSX, sheet neu, 1 other sheet not read"


def test_a_workbook_with_one_sheet_that_holds_anything_says_nothing_of_sheets() -> None:
    assert open_list(workbook({"Sheet1": LIST, "Sheet2": (), "Sheet3": ()})).read_as == "XLSX"


def test_a_cover_sheet_is_passed_over() -> None:
    opened = open_list(workbook({"Cover": COVER, "Notes": (("Read me",),), "List": LIST}))
    assert names_in(opened) == ["Ada", "Bob", "Cy"]
    assert opened.read_as == "XLSX, sheet List, 2 other sheets not read"


def test_of_several_lists_the_first_is_read_or_the_one_with_the_column_that_is_wanted() -> None:
    data = workbook({"Rome": LIST, "Oslo": (("Name", "Dial this"), ("Eva", "+12025550103"))})
    assert names_in(open_list(data)) == ["Ada", "Bob", "Cy"]
    assert names_in(open_list(data, column="dial_this")) == ["Eva"]


def test_where_no_sheet_is_a_list_the_first_with_anything_is_read() -> None:
    opened = open_list(workbook({"Empty": (), "Cover": COVER, "More": (("x", "y"), ("1", "2"))}))
    assert opened.header.cells == ["Customer list 2026"]
    assert opened.sheet is not None
    assert (opened.sheet.name, opened.sheet.others) == ("Cover", 1)


def test_a_workbook_whose_lists_are_all_hidden_is_refused_and_names_the_sheet() -> None:
    with pytest.raises(UnreadableList, match="sheet alt is hidden, and no other holds anything; show it"):
        open_list(workbook({"alt": LIST, "Sheet1": ()}, hidden("alt")))


def test_rows_that_a_filter_hides_are_left_out_and_counted() -> None:
    opened = open_list(workbook({"List": LIST}, without_rows(3)))
    assert list(opened.rows) == [(2, ["Ada", "+12025550100"]), (4, ["Cy", "+12025550102"])]
    assert opened.read_as == "XLSX, 1 hidden row left out"


def test_hidden_rows_are_read_where_they_have_to_be() -> None:
    opened = open_list(workbook({"List": LIST}, without_rows(2, 3, 9)), with_hidden=True)
    assert names_in(opened) == ["Ada", "Bob", "Cy"]
    assert opened.read_as == "XLSX, with 2 hidden rows"


@pytest.mark.parametrize("shown", [1, 0])
def test_a_list_whose_rows_are_all_hidden_is_refused(shown: int) -> None:
    with pytest.raises(UnreadableList, match="its rows are hidden, as by a filter; show those that are meant"):
        open_list(workbook({"List": LIST}, without_rows(*range(1 + shown, 5))))


def test_a_workbook_with_hidden_rows_is_not_turned_into_text() -> None:
    """Whoever gets the text could not see that rows are missing."""
    assert text_of(workbook({"List": LIST}).getvalue()).count("\n") == 4
    with pytest.raises(UnreadableList, match="2 rows of its sheet are hidden; show or delete them"):
        text_of(workbook({"List": LIST}, without_rows(2, 3)).getvalue())


@pytest.mark.parametrize("prefix", [b"", b"x:"])
def test_hidden_rows_are_found_however_the_sheet_is_written(prefix: bytes) -> None:
    """Without numbers of rows, with a prefix of the namespace, and with `true` for 1."""

    def change(sheet: bytes) -> bytes:
        sheet = re.sub(rb'<row r="3"[^>]*>', b'<row r="3" hidden="true">', sheet)
        sheet = re.sub(rb'<row r="\d+"', b"<row", sheet)
        if prefix:
            sheet = re.sub(rb"<(/?)(?=\w)", rb"<\1" + prefix, sheet).replace(b"xmlns=", b"xmlns:x=")
        return sheet

    opened = open_list(rewritten(workbook({"List": LIST}), "xl/worksheets/sheet1.xml", change))
    assert names_in(opened) == ["Ada", "Cy"]


def test_what_is_said_of_a_long_name_and_much_else_is_cut() -> None:
    rows: Rows = [["Customers 2026"], *LIST]
    sheets: dict[str, Rows] = {"A sheet with a very long name x": rows, **{f"S{n}": OTHER for n in range(12)}}
    opened = open_list(workbook(sheets, without_rows(3)))
    assert opened.read_as == (
        "XLSX, sheet A sh…, 12 other sheets not read, 1 hidden row left out, without the row above the header"
    )
    assert len(opened.read_as) <= LONGEST_READ_AS


@pytest.mark.parametrize(("column", "cell"), [(2, "B3"), (1, "A3")])
def test_a_formula_without_its_result_is_named_and_no_empty_cell(column: int, cell: str) -> None:
    def change(sheets: dict[str, Worksheet]) -> None:
        sheets["List"].cell(3, column, '="+1202"&"5550101"')

    with pytest.raises(UnreadableList, match=f"the cell {cell} of its sheet List has a formula whose result"):
        open_list(workbook({"List": LIST}, change))
    assert names_in(open_list(workbook({"List": LIST}, lambda made: (change(made), without_rows(3)(made))[1]))) == [
        "Ada",
        "Cy",
    ]


@pytest.mark.parametrize(
    ("stored", "name"),
    [
        (b"<f>A1</f><v>Bob</v></c>", "Bob"),
        (b"<f>A1</f><v></v></c>", ""),
        (b"<f>A1</f><v/></c>", ""),
    ],
)
def test_the_result_of_a_formula_is_read_also_where_it_is_an_empty_text(stored: bytes, name: str) -> None:
    def change(sheet: bytes) -> bytes:
        changed = re.sub(rb'<c r="A3"[^>]*>.*?</c>', b'<c r="A3" t="str">' + stored, sheet)
        assert changed != sheet
        return changed

    data = rewritten(workbook({"List": LIST}), "xl/worksheets/sheet1.xml", change)
    assert names_in(open_list(data)) == ["Ada", name, "Cy"]


def test_a_sheet_that_names_an_entity_is_refused() -> None:
    def change(sheet: bytes) -> bytes:
        declared = b'<!DOCTYPE worksheet [<!ENTITY a "aaaaaaaaaa">]>'
        return declared + sheet.replace(b"<row ", b'<row hidden="0" ', 1)

    with pytest.raises(UnreadableList, match="a sheet of it cannot be read"):
        open_list(rewritten(workbook({"List": LIST}), "xl/worksheets/sheet1.xml", change))


def test_a_tag_that_two_pieces_of_a_sheet_share_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    data = workbook({"List": LIST}, without_rows(3))
    for size in (1, 3, 7, 64):
        monkeypatch.setattr(sheet_marks, "_CHUNK_BYTES", size)
        assert names_in(open_list(data)) == ["Ada", "Cy"]
