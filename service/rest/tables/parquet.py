"""Tables as Parquet, by pyarrow, which is an extra (`pip install 'callwright[parquet]'`) and imported only here.

Rows are collected into groups, because each group costs a kilobyte or two in the file and in memory; so memory stays at
one group however long the table is. What the library has written is taken out of its file after each page.
"""

import io
from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from typing import Any

from callwright.service.platform.table_columns import Cells, Column, ColumnKind

GROUP_ROWS = 20_000
"""Rows of one group."""


class ParquetFile:
    """Writes rows as Parquet: text, 64-bit integers, doubles, booleans, and moments in UTC to the millisecond."""

    def __init__(self, columns: Sequence[Column]) -> None:
        pa: Any = import_module("pyarrow")  # its types are not complete
        parquet: Any = import_module("pyarrow.parquet")
        types: dict[ColumnKind, Any] = {
            "text": pa.string(),
            "integer": pa.int64(),
            "number": pa.float64(),
            "truth": pa.bool_(),
            "moment": pa.timestamp("ms", tz="UTC"),
        }
        self._pa = pa
        self._columns = columns
        self._schema: Any = pa.schema([(column.name, types[column.kind]) for column in columns])
        self._file = _Taken()
        self._writer: Any = parquet.ParquetWriter(self._file, self._schema, compression="zstd")
        self._waiting: list[Cells] = []

    def written(self, rows: Sequence[Cells]) -> bytes:
        """The bytes of the groups that these rows complete."""
        self._waiting += rows
        if len(self._waiting) >= GROUP_ROWS:
            self._write_group()
        return self._file.take()

    def end(self) -> bytes:
        """The last group, and the description of all, without which the file cannot be read."""
        if self._waiting:
            self._write_group()
        self._writer.close()
        return self._file.take()

    def _write_group(self) -> None:
        rows, self._waiting = self._waiting, []
        cells = [
            [_moment(cell) for cell in column] if self._columns[place].kind == "moment" else column
            for place, column in enumerate(zip(*rows, strict=True))
        ]
        arrays = [self._pa.array(column, type=field.type) for column, field in zip(cells, self._schema, strict=True)]
        self._writer.write_table(self._pa.Table.from_arrays(arrays, schema=self._schema), row_group_size=len(rows))


class _Taken(io.RawIOBase):
    """A file that only grows, and whose bytes are taken away as they come."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._bytes += data
        size = memoryview(data).nbytes
        self._size += size
        return size

    def tell(self) -> int:
        return self._size

    def take(self) -> bytes:
        taken = bytes(self._bytes)
        self._bytes.clear()
        return taken


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
