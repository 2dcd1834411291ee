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
"""Numbers that are read alone: each takes as long as any other."""
_NAMES = [column.name for column in audience_rows.columns]
_COLUMNS = ", ".join(f'"{name}"' for name in _NAMES)
_SELECTED = f"SELECT {_COLUMNS} FROM audience_rows ORDER BY position"  # its own names
_POSITION, _NAME = _NAMES.index("position"), _NAMES.index("name_words")
_NAMES_MADE = "SELECT sql FROM sqlite_master WHERE name = 'audience_names'"
_TAG = "0" * 12
"""As long as what stands before the words of an audience."""


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


def _named(words: str) -> str:
    return " ".join(_TAG + word for word in words.split())


def rows_alone(url: str) -> float:
    """Seconds a row to insert all rows of a database into an empty table with the same indexes, also that of names, in
    transactions as large as those of an import. What reading them takes is not counted.
    """
    if not url.startswith("sqlite"):
        return _inserted_on_postgres(url)
    file = str(make_url(url).database)
    with (
        closing(sqlite3.connect(file)) as source,
        closing(sqlite3.connect(f"{file}.bare", isolation_level=None)) as bare,
    ):
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "cache_size=-65536"):  # those of the service
            bare.execute(f"PRAGMA {pragma}").close()
        made = (
            "SELECT sql FROM sqlite_master WHERE tbl_name = 'audience_rows' AND type IN ('table', 'index') "
            "AND sql IS NOT NULL ORDER BY type DESC"
        )
        for (statement,) in [*source.execute(made), *source.execute(_NAMES_MADE)]:
            bare.execute(statement)
        inserting = f"INSERT INTO audience_rows ({_COLUMNS}) VALUES ({', '.join('?' * len(audience_rows.columns))})"
        rows, count, taken = source.execute(_SELECTED), 0, 0.0
        while piece := rows.fetchmany(PIECE):
            names = [(row[_POSITION], _named(row[_NAME])) for row in piece if row[_NAME]]
            begun = time.perf_counter()
            bare.execute("BEGIN IMMEDIATE")
            bare.executemany(inserting, piece)
            bare.executemany("INSERT INTO audience_names (rowid, words) VALUES (?, ?)", names)
            bare.execute("COMMIT")
            taken, count = taken + time.perf_counter() - begun, count + len(piece)
        return taken / count


def _inserted_on_postgres(url: str) -> float:
    inserting = f"INSERT INTO bare_rows ({_COLUMNS}) VALUES ({', '.join(['%s'] * len(audience_rows.columns))})"
    count, taken = 0, 0.0
    with connected(url) as source, _bare_table(url) as bare, source.cursor("rows") as rows, bare.cursor() as cursor:
        rows.execute(_SELECTED.encode())
        while piece := rows.fetchmany(PIECE):
            begun = time.perf_counter()
            cursor.executemany(inserting.encode(), piece)
            bare.commit()
            taken, count = taken + time.perf_counter() - begun, count + len(piece)
    return taken / count


def copied_alone(url: str) -> float:
    """Seconds a row to copy all rows of a database of Postgres into an empty table with the same indexes, with COPY.
    What reading them takes is not counted.
    """
    taken = 0.0
    with connected(url) as source, _bare_table(url) as bare, source.cursor() as rows, bare.cursor() as cursor:
        with (
            rows.copy(f"COPY ({_SELECTED}) TO STDOUT".encode()) as out,
            cursor.copy(f"COPY bare_rows ({_COLUMNS}) FROM STDIN".encode()) as into,
        ):
            for block in out:
                begun = time.perf_counter()
                into.write(block)
                taken += time.perf_counter() - begun
            begun = time.perf_counter()
        bare.commit()
        return (taken + time.perf_counter() - begun) / cursor.rowcount


@contextmanager
def _bare_table(url: str) -> Generator[psycopg.Connection[Any]]:
    """A connection to the database, where an empty table has the same columns and indexes."""
    with connected(url) as connection:
        connection.execute("DROP TABLE IF EXISTS bare_rows")
        connection.execute("CREATE TABLE bare_rows (LIKE audience_rows INCLUDING ALL)")
        connection.commit()
        yield connection


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
