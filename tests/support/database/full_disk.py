"""A database whose disk is full, on any machine: SQLite may not grow, Postgres refuses every row that is written."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from sqlalchemy import Connection, insert, text

from callwright.service.platform.database.database import Database
from callwright.service.platform.database.sqlite.disk_space import StorageFull
from callwright.service.tables.schema import metadata, service_state

_NO_LIMIT = 1_073_741_823
_FAIL = """
CREATE OR REPLACE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$
"""
_REFUSE = """
CREATE TRIGGER disk_full BEFORE INSERT OR UPDATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION disk_full()
"""


@asynccontextmanager
async def full(database: Database) -> AsyncGenerator[None]:
    """The disk is full inside the block, and has room again after it. The first write inside finds that out."""
    if database.is_shared:
        await database.write(_run, _FAIL)
        for table in metadata.tables:  # each for itself: whoever locks them all at once waits for who waits for him
            await database.write(_run, _REFUSE.format(table=table))
        try:
            yield
        finally:
            for table in metadata.tables:
                await database.write(_run, f"DROP TRIGGER disk_full ON {table}")
        return
    await database.write(_limit, 1)  # no fewer pages than there are
    for size in (4_096, 256):  # what was free inside the file is taken too
        for number in range(100_000):
            try:
                await database.write(_take, f"taken {size} {number}", size)
            except StorageFull:
                break
    database.disk_space.mark_freed()
    try:
        yield
    finally:
        await database.write(_limit, _NO_LIMIT)


def _limit(connection: Connection, pages: int) -> None:
    connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")


def _take(connection: Connection, name: str, size: int) -> None:
    connection.execute(insert(service_state), {"name": name, "value": "x" * size})


def _run(connection: Connection, statement: str) -> None:
    connection.execute(text(statement))
