"""Reads a sheet of an XLSX file (ECMA-376), row by row: the first that is shown and has a list."""

import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from itertools import islice
from typing import Any, BinaryIO

from callwright.list_files.sheet_marks import SheetMarks, has_content, marks_of, parts_by_sheet
from callwright.list_files.unreadable import UnreadableList

MOST_UNPACKED_BYTES = 200_000_000
"""Bytes of a file when it is unpacked. A small file can unpack to a thousand times its size."""
MOST_ROWS = 1_048_576
"""Rows of a sheet. Source: Excel's own limit."""
MOST_CELLS = 20_000_000
"""Cells of a sheet, the empty ones before others in a row included: a row of a few bytes can be 16,384 cells wide."""
BEGIN_BYTES = 512
"""Bytes by which the kind of a file is told."""
_MOST_SHEETS = 50
"""Sheets that are looked at for a list, the first ones."""
_LOOKED_AT = 60
"""Rows of each that are looked at, the first ones."""
_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OTHERS = (
    (b"%PDF", "a PDF"),
    (b"\x89PNG\r\n\x1a\n", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"{\\rtf", "a text document (RTF)"),
)
"""How files of other kinds begin that people take for lists."""
_OTHER_TEXTS = (
    (
        rb"(?i)(?:<!--.*?-->\s*)?<(?:!doctype html|html|head|meta|table|style)",
        "a web page (HTML), whatever its name says",
    ),
    (rb"(?i)<(?:\?xml|\w+:workbook|workbook)", "XML, whatever its name says"),
    (rb"(?i)mime-version:", "a web archive, whatever its name says"),
    (rb"(?i)begin:vcard", "an address book (vCard)"),
    (rb"\[\s*(?:[\[{\"]|\Z)|\{\s*(?:[\"}]|\Z)", "JSON"),
)
"""How texts begin that are no CSV. Programs give HTML and XML the ending .xls, because spreadsheets open them."""
_BEFORE_TEXT = b"\xef\xbb\xbf \t\r\n"
_SAVE = "save the list as XLSX or as CSV"
_ESCAPED = re.compile(r"(?:_x[0-9A-Fa-f]{4}_)+")
_ZEROS = re.compile(r"""(?:\[\$[^\]]*\])?((?:"[^"]*"|\\.|[-+ ()])*)(0+)(?:;@)?""")
"""A number format of nothing but zeros, with a text in front: `00000`, `"C-"000000`."""


def is_workbook(begin: bytes) -> bool:
    """Whether a file that begins so is an XLSX file.

    Raises:
        UnreadableList: it is a file of another kind, such as an old Excel file.
    """
    if begin.startswith(_OLE):
        raise UnreadableList(f"it is an old Excel file (.xls) or one with a password; {_SAVE} without a password")
    for mark, kind in _OTHERS:
        if begin.startswith(mark):
            raise UnreadableList(f"it is {kind}; {_SAVE}")
    text = begin[:BEGIN_BYTES].lstrip(_BEFORE_TEXT)
    for pattern, kind in _OTHER_TEXTS:
        if re.match(pattern, text, re.DOTALL):
            raise UnreadableList(f"it is {kind}; {_SAVE}")
    return begin.startswith(_ZIP)


@dataclass(frozen=True)
class OpenSheet:
    """The sheet of a workbook that is read."""

    name: str
    others: int
    """How many other sheets hold anything; they are not read."""
    hidden_rows: int
    """How many of its rows are hidden and hold anything."""
    rows: Iterator[tuple[int, list[str]]]
    """Its rows that hold anything, each with its number in the sheet."""


def open_sheet(
    file: BinaryIO, is_list: Callable[[Sequence[Sequence[str]]], bool], *, with_hidden: bool = False
) -> OpenSheet:
    """Opens the first sheet that is shown and whose first rows are a list as `is_list` says, else the first with any.

    Hidden rows, which a filter leaves, are left out, unless `with_hidden` is set.

    Raises:
        UnreadableList: it is not XLSX, or too large, or has a formula without a result, or all that it has is hidden.
    """
    with _opened(file) as parts:
        by_name = parts_by_sheet(parts)
        from openpyxl import load_workbook  # slow to import

        warnings.filterwarnings("ignore", module=r"openpyxl\.")  # of styles and extensions, which are not read
        file.seek(0)
        try:
            book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        except Exception as error:  # the library raises whatever its parsers do
            raise UnreadableList(f"its sheets cannot be read; {_SAVE} again") from error
        parts_of = {one.title: by_name.get(one.title) for one in book.worksheets}
        filled = [one for one in book.worksheets if (part := parts_of[one.title]) is None or has_content(parts, part)]
        shown = [one for one in filled if one.sheet_state == "visible"]
        if filled and not shown:
            raise UnreadableList(
                f"its sheet {filled[0].title} is hidden, and no other holds anything; show it, and {_SAVE} again"
            )
        if not shown:
            return OpenSheet("", 0, 0, iter(()))

        def marks_of_sheet(one: Any) -> SheetMarks:
            part = parts_of[one.title]
            return SheetMarks() if part is None else marks_of(parts, part)

        sheet, marks = _chosen(shown, marks_of_sheet, is_list, with_hidden=with_hidden)
    if (cell := marks.formula_without_result(with_hidden=with_hidden)) is not None:
        raise UnreadableList(
            f"the cell {cell} of its sheet {sheet.title} has a formula whose result is not in the file: open it in a "
            "spreadsheet program, save it there, and send it again"
        )
    rows = _filled_rows(sheet, marks, with_hidden=with_hidden)
    return OpenSheet(sheet.title, len(filled) - 1, marks.hidden_rows, rows)


def _chosen(
    shown: Sequence[Any],
    marks_of_sheet: Callable[[Any], SheetMarks],
    is_list: Callable[[Sequence[Sequence[str]]], bool],
    *,
    with_hidden: bool,
) -> tuple[Any, SheetMarks]:
    """The sheet that is read, and what it says beside its cells."""
    first: tuple[Any, SheetMarks] | None = None
    for sheet in shown[:_MOST_SHEETS]:
        found = sheet, marks_of_sheet(sheet)
        if len(shown) == 1:
            return found
        begin = [cells for _, cells in islice(_filled_rows(*found, with_hidden=with_hidden), _LOOKED_AT)]
        if begin and is_list(begin):
            return found
        first = first or (found if begin else None)
    return first or (shown[0], marks_of_sheet(shown[0]))


def _filled_rows(sheet: Any, marks: SheetMarks, *, with_hidden: bool) -> Iterator[tuple[int, list[str]]]:
    for number, cells in _rows(sheet):
        if any(cells) and (with_hidden or not marks.is_hidden(number)):
            yield number, cells


def _rows(sheet: Any) -> Iterator[tuple[int, list[str]]]:
    sheet.reset_dimensions()  # some programs write wrong ones
    seen = 0
    try:
        for number, cells in enumerate(sheet.iter_rows(), 1):
            if number > MOST_ROWS:
                raise UnreadableList(f"a sheet has at most {MOST_ROWS:,} rows")
            seen += len(cells)
            if seen > MOST_CELLS:
                raise UnreadableList(f"a sheet has at most {MOST_CELLS // 1_000_000} million cells; cut it in pieces")
            yield number, [_text(cell) for cell in cells]
    except UnreadableList:
        raise
    except Exception as error:
        raise UnreadableList(f"a sheet of it cannot be read; {_SAVE} again") from error


def _opened(file: BinaryIO) -> zipfile.ZipFile:
    """The parts of a workbook, which are not too large."""
    file.seek(0)
    try:
        parts = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise UnreadableList(f"it is damaged; {_SAVE} again") from error
    members = parts.infolist()
    if not any(member.filename == "xl/workbook.xml" for member in members):
        raise UnreadableList(f"it is not an XLSX file; {_SAVE}")
    if sum(member.file_size for member in members) > MOST_UNPACKED_BYTES:
        raise UnreadableList(
            f"it has more than {MOST_UNPACKED_BYTES // 1_000_000} MB when it is unpacked; cut it in pieces"
        )
    return parts


def _text(shown: Any) -> str:
    """A cell as text: whole numbers with the zeros in front that the sheet shows, dates as in ISO 8601."""
    cell: object = shown.value
    if cell is None:
        return ""
    if isinstance(cell, str):
        return _ESCAPED.sub(_unescaped, cell) if "_x" in cell else cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return _filled_up(int(cell), shown.number_format)
    if isinstance(cell, int) and abs(cell) < 1e15:
        return _filled_up(cell, shown.number_format)
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ", "minutes")
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell)


def _filled_up(number: int, number_format: str) -> str:
    """A whole number with the text and the zeros in front that its format gives it, as for postcodes."""
    found = _ZEROS.fullmatch(number_format) if "0" in number_format and number >= 0 else None
    if found is None:
        return str(number)
    return re.sub(r'"|\\(.)', r"\1", found[1]) + str(number).zfill(len(found[2]))


def _unescaped(found: re.Match[str]) -> str:
    """The characters that stand as `_xHHHH_` in a text (ECMA-376 part 1, ST_Xstring), one or more in a row."""
    units = b"".join(int(unit, 16).to_bytes(2, "little") for unit in re.findall(r"_x(.{4})_", found[0]))
    return units.decode("utf-16-le", "replace")
