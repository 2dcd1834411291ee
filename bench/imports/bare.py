"""What nobody can leave out of an import, alone: reading the numbers, and inserting the rows."""

import multiprocessing
import sqlite3
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from typing import Any, cast

import phonenumbers
import psycopg
from sqlalchemy import make_url

from callwright.service.tables.schema import audience_rows
from callwright.service.workers.import_rows import PIECE

MOST = 1_000_000
"""Rows and numbers that are measured alone. Into a larger table inserting only takes longer."""
_COLUMNS = ", ".join(f'"{column.name}"' for column in audience_rows.columns)
_SELECTED = f"SELECT {_COLUMNS} FROM audience_rows ORDER BY position LIMIT {MOST}"  # its own names


def read_bare(written: str) -> str | None:
    """The number in E.164, read as plainly as can be."""
    number = phonenumbers.parse(written)
    if not phonenumbers.is_valid_number(number):
        return None
    phonenumbers.region_code_for_number(number)
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def numbers_alone(numbers: list[str]) -> float:
    """Seconds a number to read them, spread over the cores."""
    with multiprocessing.get_context("spawn").Pool() as pool:
        pool.map(read_bare, numbers[:1_000])
        begun = time.perf_counter()
        for _ in pool.imap(read_bare, numbers, chunksize=2_000):
            pass
        return (time.perf_counter() - begun) / len(numbers)


def rows_alone(url: str) -> float:
    """Seconds a row to insert rows of a database again, into the table emptied, in transactions as large as those of an
    import.
    """
    if not url.startswith("sqlite"):
        return _inserted_on_postgres(url)
    with closing(sqlite3.connect(str(make_url(url).database), isolation_level=None)) as database:
        rows = database.execute(_SELECTED).fetchall()
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "cache_size=-65536"):  # those of the service
            database.execute(f"PRAGMA {pragma}").close()
        database.execute("DELETE FROM audience_rows")
        inserting = f"INSERT INTO audience_rows ({_COLUMNS}) VALUES ({', '.join('?' * len(audience_rows.columns))})"
        begun = time.perf_counter()
        for first in range(0, len(rows), PIECE):
            database.execute("BEGIN IMMEDIATE")
            database.executemany(inserting, rows[first : first + PIECE])
            database.execute("COMMIT")
        return (time.perf_counter() - begun) / len(rows)


def _inserted_on_postgres(url: str) -> float:
    with connected(url) as connection, connection.cursor() as cursor:
        rows = cursor.execute(_SELECTED.encode()).fetchall()
        cursor.execute("TRUNCATE audience_rows CASCADE")
        connection.commit()
        inserting = f"INSERT INTO audience_rows ({_COLUMNS}) VALUES ({', '.join(['%s'] * len(audience_rows.columns))})"
        begun = time.perf_counter()
        for first in range(0, len(rows), PIECE):
            cursor.executemany(inserting.encode(), rows[first : first + PIECE])
            connection.commit()
        return (time.perf_counter() - begun) / len(rows)


def copied_alone(url: str) -> float:
    """Seconds a row to copy rows of a database of Postgres into the table emptied, with COPY."""
    with connected(url) as connection, connection.cursor() as cursor:
        with cursor.copy(f"COPY ({_SELECTED}) TO STDOUT".encode()) as out:
            blocks = [bytes(block) for block in out]
        cursor.execute("TRUNCATE audience_rows CASCADE")
        connection.commit()
        begun = time.perf_counter()
        with cursor.copy(f"COPY audience_rows ({_COLUMNS}) FROM STDIN".encode()) as into:
            for block in blocks:
                into.write(block)
        connection.commit()
        return (time.perf_counter() - begun) / cursor.rowcount


@contextmanager
def connected(url: str) -> Generator[psycopg.Connection[Any]]:
    """A connection of the driver itself."""
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain) as connection:
        yield cast("psycopg.Connection[Any]", connection)


def phones(url: str) -> list[str]:
    """The numbers of all rows, in their order."""
    asked = "SELECT phone FROM audience_rows ORDER BY position"
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(str(make_url(url).database))) as database:
            return [row[0] for row in database.execute(asked)]
    with connected(url) as connection:
        return [row[0] for row in connection.execute(asked)]
