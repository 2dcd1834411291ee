"""The bytes of a table, piece by piece: each page is read in a unit of work of its own, when its bytes are asked for.

So nothing is kept but one page, no transaction is open between two pages, and who stops asking stops the reading.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Protocol

from anyio import to_thread
from sqlalchemy import Connection

from callwright.service.handlers.request_context import Position, TableRequest
from callwright.service.platform.database.database import Database
from callwright.service.platform.table_columns import Cells
from callwright.service.rest.tables.csv_text import CsvText
from callwright.service.rest.tables.parquet import ParquetFile


class TableWriter(Protocol):
    """Turns rows into the bytes of a file. Called in threads, one call at a time."""

    def written(self, rows: Sequence[Cells]) -> bytes:
        """The bytes that these rows add; the first call adds those of the beginning."""
        ...

    def end(self) -> bytes:
        """The bytes behind the last row."""
        ...


async def pieces_of(database: Database, wanted: TableRequest) -> AsyncGenerator[bytes]:
    """The bytes of a table in pieces, none of them empty.

    Raises:
        StorageUnavailable: the database does not answer. What came before is not the whole table.
    """
    writer: TableWriter = await to_thread.run_sync(_WRITERS[wanted.form], wanted.columns)
    last: Position | None = None
    while True:
        written, last = await database.read(_page, wanted, writer, last)
        if written:
            yield written
        if last is None:
            break
    ending = await to_thread.run_sync(writer.end)
    if ending:
        yield ending


async def begun(pieces: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """The same pieces, of which the first is there already: what cannot be read at all fails here."""
    first = await anext(pieces, b"")

    async def every() -> AsyncGenerator[bytes]:
        async with aclosing(pieces):
            yield first
            async for piece in pieces:
                yield piece

    return every()


_WRITERS = {"csv": CsvText, "parquet": ParquetFile}


def _page(
    connection: Connection, wanted: TableRequest, writer: TableWriter, last: Position | None
) -> tuple[bytes, Position | None]:
    rows, ends = wanted.page(connection, last)
    return writer.written(rows), ends
