"""Measures what a simulated call costs on SQLite: processor time beside bare inserts of the same rows, and bytes.

The bare inserts put the rows that the campaign left into an empty database with the same tables and indexes, as many
rows in a transaction as the campaign's batches have, through the driver alone. Of more than 50,000 calls only about so
many are inserted again.
"""

import math
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from bench.campaign import DATABASE, campaign_of, complete

CONTACTS = (1_000, 10_000, 100_000)
_CALLS_OF_BATCH = 75
_BARE_CALLS = 50_000
_ASKED_EVERY_S = 1.0
"""Between two questions whether the campaign is completed, whose answers take processor too."""
_SHOWN = 3
"""Bytes of a call below which a table or an index is not named."""


@dataclass(frozen=True)
class Stored:
    """What the calls of one campaign cost: seconds of processor and bytes."""

    contacts: int
    calls: int
    processor_s: float
    bare_each_s: float
    """Seconds of processor of a call's bare inserts."""
    bytes_of: Mapping[str, int]
    """How much each table and index has grown in the file."""

    @property
    def bytes_each(self) -> float:
        """Bytes of a call in the file."""
        return sum(self.bytes_of.values()) / self.calls

    @property
    def micros_each(self) -> float:
        """Microseconds of processor of a call."""
        return self.processor_s / self.calls * 1e6


async def stored(contacts: int) -> Stored:
    """Runs a campaign and inserts its rows again, barely."""
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as name:
        file = Path(name) / DATABASE
        async with campaign_of(Path(name), contacts) as (client, deployment_id):
            with closing(_reader(file)) as read:
                sizes, last = _sizes(read), _last_rows(read)
            begun = time.process_time()
            calls = await complete(client, deployment_id, asked_every_s=_ASKED_EVERY_S)
            processor_s = time.process_time() - begun
        with closing(_reader(file)) as read:
            grown = {what: size - sizes.get(what, 0) for what, size in _sizes(read).items()}
            bare_each_s = _bare(read, last, Path(name) / "bare.db", calls)
    return Stored(contacts, calls, processor_s, bare_each_s, grown)


def _reader(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{file}?mode=ro", uri=True)


def _sizes(read: sqlite3.Connection) -> dict[str, int]:
    return dict(read.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))


def _tables(read: sqlite3.Connection) -> list[tuple[str, str, bool]]:
    """The tables, each with its statement and whether its rows have numbers. The full-text table is left out."""
    found = read.execute(
        "SELECT name, sql, wr FROM pragma_table_list JOIN sqlite_schema USING (name)"
        " WHERE pragma_table_list.type = 'table' AND name NOT LIKE 'sqlite%'"
    )
    return [(name, sql, not without) for name, sql, without in found]


def _last_rows(read: sqlite3.Connection) -> dict[str, int]:
    """The number of each table's last row, or how many rows there are of one whose rows have no numbers."""
    return {
        name: read.execute(f'SELECT {"coalesce(max(rowid), 0)" if numbered else "count(*)"} FROM "{name}"').fetchone()[
            0
        ]
        for name, _, numbered in _tables(read)
    }


def _bare(read: sqlite3.Connection, last: Mapping[str, int], file: Path, calls: int) -> float:
    """The processor time of inserting a call's rows, of those that came after the last ones, into a new file."""
    share = min(1.0, _BARE_CALLS / calls)
    with closing(sqlite3.connect(file, isolation_level=None)) as write:
        write.execute("PRAGMA journal_mode = WAL")
        write.execute("PRAGMA synchronous = FULL")
        write.execute("PRAGMA cache_size = -65536")
        new: dict[str, list[Any]] = {}
        for name, sql, numbered in _tables(read):
            write.execute(sql)
            found = f'FROM "{name}"' + (f" WHERE rowid > {last[name]}" if numbered else "")
            (count,) = read.execute(f"SELECT count(*) {found}").fetchone()
            rows = read.execute(f"SELECT * {found} LIMIT {math.ceil(count * share)}").fetchall()
            if rows and (numbered or not last[name]):
                places = ", ".join("?" * len(rows[0]))
                new[f'INSERT INTO "{name}" VALUES ({places})'] = rows
        write.execute(read.execute("SELECT sql FROM sqlite_schema WHERE name = 'transcript_words'").fetchone()[0])
        new["INSERT INTO transcript_words (rowid, words, marks) VALUES (?, ?, ?)"] = _words(read, share)
        for (sql,) in read.execute("SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"):
            write.execute(sql)
        batches = max(1, int(calls * share) // _CALLS_OF_BATCH)
        begun = time.process_time()
        for index in range(batches):
            write.execute("BEGIN IMMEDIATE")
            for statement, rows in new.items():
                write.executemany(statement, _part(rows, index, batches))
            write.execute("COMMIT")
        return (time.process_time() - begun) / (calls * share)


def _words(read: sqlite3.Connection, share: float) -> list[tuple[int, str, str]]:
    """What the full-text table was made of, its first rows, read from its index: it keeps no copy."""
    read.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, transcript_words, instance)")
    texts: dict[int, dict[str, list[str]]] = {}
    places = [place for (place,) in read.execute("SELECT place FROM transcript_words_places ORDER BY place")]
    last = places[math.ceil(len(places) * share) - 1]
    found = read.execute("SELECT doc, col, term FROM terms WHERE doc <= ? ORDER BY doc, col, offset", [last])
    for rowid, column, term in found:
        texts.setdefault(rowid, {"words": [], "marks": []})[column].append(term)
    return [(rowid, " ".join(found["words"]), " ".join(found["marks"])) for rowid, found in texts.items()]


def _part(rows: list[Any], index: int, parts: int) -> Iterator[Any]:
    return iter(rows[len(rows) * index // parts : len(rows) * (index + 1) // parts])


def main(sizes: tuple[int, ...]) -> None:
    """Prints what a call costs in campaigns of these sizes, and how many bytes of it each table and index of the last
    has."""
    found = [anyio.run(stored, contacts) for contacts in sizes]
    first = found[0]
    for one in found:
        micros, bare = one.micros_each, one.bare_each_s * 1e6
        slower = micros / first.micros_each
        print(
            f"{one.contacts:9,} contacts  {one.calls:9,} calls: {micros:6.0f} µs of processor  "
            f"bare inserts {bare:4.0f} µs  ratio {micros / bare:4.1f} (aim ≤ 2)  {1e6 / micros:6,.0f} a second "
            f"(aim ≥ 2,000)  beside the first {slower:4.2f} (aim ≤ 1.3)  {one.bytes_each:6,.0f} bytes (aim ≤ 3,000)"
        )
    last = found[-1]
    each = {name: size / last.calls for name, size in last.bytes_of.items()}
    for name, size in sorted(each.items(), key=lambda entry: -entry[1]):
        if size >= _SHOWN:
            print(f"{size:8,.0f} bytes  {name}")
