"""The text of a list as a file has it, whatever its encoding; a workbook as the CSV of its sheet."""

import csv
import io

from callwright.list_files.encodings import encoding_of
from callwright.list_files.reading import open_list
from callwright.list_files.unreadable import UnreadableList
from callwright.list_files.workbooks import is_workbook


def text_of(content: bytes) -> str:
    """The text of a CSV file in the encodings that lists are read in, without a mark at its beginning.

    Raises:
        UnreadableList: it cannot be read; the text says why.
    """
    file = io.BytesIO(content)
    if is_workbook(content):
        return _sheet(file)
    codec = encoding_of(file)
    try:
        return content.decode(codec).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise UnreadableList("it is in no encoding that is known; save it again as CSV UTF-8") from error


def _sheet(file: io.BytesIO) -> str:
    """The rows of a sheet as CSV, each in its own line, so that lines are named as in the sheet."""
    opened = open_list(file)
    if opened.sheet is not None and (hidden := opened.sheet.hidden_rows):
        rows = f"{hidden:,} row{'' if hidden == 1 else 's'} of its sheet {'is' if hidden == 1 else 'are'} hidden"
        raise UnreadableList(f"{rows}; show or delete them, and save it again")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    next_line = 1
    for line, cells in (opened.header, *opened.rows):
        out.write("\n" * (line - next_line))
        writer.writerow([" ".join(cell.splitlines()) for cell in cells])
        next_line = line + 1
    return out.getvalue()
