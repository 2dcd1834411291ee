"""Tables as CSV (RFC 4180): UTF-8 behind a byte order mark, commas, CRLF, the names of the columns first. No cell
begins with a formula.

CSV is what people open, and without the mark a spreadsheet reads UTF-8 as the code page of the machine. Programs read
`utf-8-sig`, or take Parquet.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from callwright.list_files.written_cells import MARK, csv_lines, safe_cell
from callwright.service.platform.table_columns import Cells, Column, ColumnKind


class CsvText:
    """Writes rows as CSV."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns: Sequence[Column] | None = columns
        self._as_text = [_AS_TEXT[column.kind] for column in columns]

    def written(self, rows: Sequence[Cells]) -> bytes:
        """The lines of these rows; before the first of all, the names of the columns."""
        return self._heading() + _lines(
            ["" if cell is None else text(cell) for text, cell in zip(self._as_text, row, strict=True)] for row in rows
        )

    def end(self) -> bytes:
        """Nothing, or the names of the columns of a table that has no rows."""
        return self._heading()

    def _heading(self) -> bytes:
        columns, self._columns = self._columns, None
        return MARK.encode() + _lines([[column.name for column in columns]]) if columns is not None else b""


def _lines(rows: Iterable[Sequence[str]]) -> bytes:
    return csv_lines(rows).encode(errors="replace")  # half a surrogate pair has no UTF-8


def _truth(value: object) -> str:
    return "true" if value else "false"


_AS_TEXT: dict[ColumnKind, Callable[[Any], str]] = {
    "text": safe_cell,
    "integer": str,
    "number": str,
    "truth": _truth,
    "moment": str,
}
