"""All rows of a database, told so that those of two runs can be compared.

Ids differ between runs. A row is told by its values with each id replaced by what is known of it: first its kind, then,
again and again, by the rows in which it stands. So rows are the same only where they hang together in the same way.
"""

import json
from collections import Counter, defaultdict
from hashlib import blake2b
from typing import Any
from warnings import catch_warnings

from sqlalchemy import MetaData, Table, create_engine, select
from sqlalchemy.exc import SAWarning

from callwright.service.platform.database.packed_text import PackedText
from callwright.service.tables.schema import metadata
from tests.compare.names import ids_in, is_of_run, kinds, without_differences
from tests.support.database.indexed_words import indexed

LEFT_OUT = {
    "alembic_version": "the schema is told by its columns",
    "service_state": "secrets of an installation, and its clock",
    "request_days": "how often was looked whether a campaign has ended",
    "request_levels": "likewise",
    "transcript_words_config": "the index of SQLite, which has `transcript_words` as its table",
    "transcript_words_content": "likewise",
    "transcript_words_data": "likewise",
    "transcript_words_docsize": "likewise",
    "transcript_words_idx": "likewise",
    "transcript_words_places": "likewise",
    **{
        f"{name}_{part}": "an index of SQLite, of names that stand in the rows"
        for name in ("audience_names", "call_names")
        for part in ("config", "data", "idx")
    },
}
"""Tables whose rows differ between any two runs."""
DIFFER = {
    "api_keys": ("hash", "identity", "last_used_at"),
    "delivery_attempts": ("duration_ms",),
    "idempotency_keys": ("fingerprint", "key"),
    "transcript_words": ("marks",),
}
"""Columns that differ between any two runs."""
PACKED = {
    str(column): column.type
    for table in metadata.sorted_tables
    for column in table.columns
    if isinstance(column.type, PackedText)
}
"""Columns with packed texts."""
DEEP = 4
"""How many times ids are told apart by their rows: from a deployment to its calls' turns it takes three."""

Row = tuple[str, str]
"""A table and the values of a row that are not NULL, as JSON with sorted names."""


def databases_differ(old: str, new: str) -> list[str]:
    """Columns and rows that one of two databases alone has. Rows are compared by the columns that both have."""
    schemas = [_columns(url) for url in (old, new)]
    shared = schemas[0] & schemas[1]
    alone = [
        f"{sign} column {column}"
        for sign, schema in zip("-+", schemas, strict=True)
        for column in sorted(schema - shared)
    ]
    return [*alone, *differences(_read(old, shared), _read(new, shared))]


def _columns(url: str) -> set[str]:
    return {str(column) for table in _tables(url) for column in table.columns}


def _tables(url: str) -> list[Table]:
    metadata = MetaData()
    engine = create_engine(url)
    with catch_warnings(action="ignore", category=SAWarning):  # about indexes
        metadata.reflect(engine)
    engine.dispose()
    return [table for table in metadata.sorted_tables if table.name not in LEFT_OUT]


def _read(url: str, columns: set[str]) -> list[Row]:
    engine = create_engine(url)
    found: list[Row] = []
    with engine.connect() as connection:
        for table in _tables(url):
            if table.name == "transcript_words" and "call_id" not in table.columns:  # an index without a copy
                for row in indexed(connection):
                    values = {"call_id": row.call_id, "words": row.words}
                    found.append((table.name, json.dumps(values, sort_keys=True, ensure_ascii=False)))
                continue
            kept = [
                column
                for column in table.columns
                if str(column) in columns and column.name not in DIFFER.get(table.name, ())
            ]
            for row in connection.execute(select(*kept)).mappings() if kept else ():
                values = {
                    name: _plain(_text(f"{table.name}.{name}", value))
                    for name, value in row.items()
                    if value is not None
                }
                found.append((table.name, json.dumps(values, sort_keys=True, ensure_ascii=False)))
    engine.dispose()
    return found


def _text(column: str, value: Any) -> Any:
    """The text of a value that is stored packed: both sides may have packed it differently, or not at all."""
    return PACKED[column].unpacked(value) if isinstance(value, bytes) and column in PACKED else value


def _plain(value: Any) -> Any:
    if isinstance(value, int):
        return "<now>" if is_of_run(value) else value
    if isinstance(value, bytes):
        return value.hex()
    return without_differences(str(value))


def told(rows: list[Row], *, deep: int) -> Counter[Row]:
    """How often there is each row, with ids told apart by the rows in which they stand `deep` steps away."""
    looks: dict[str, str] = {}

    def look(text: str, itself: str = "") -> str:
        for each in ids_in(text):
            text = text.replace(each, "itself" if each == itself else looks.get(each, kinds(each)))
        return text

    within = [(table, text, sorted(set(ids_in(text)))) for table, text in rows]
    for _ in range(deep):
        signs: defaultdict[str, list[str]] = defaultdict(list)
        for table, text, ids in within:
            for each in ids:
                signs[each].append(f"{table} {look(text, each)}")
        looks = {
            each: f"{kinds(each)}{blake2b(''.join(sorted(seen)).encode(), digest_size=6).hexdigest()}"
            for each, seen in signs.items()
        }
    return Counter((table, look(text)) for table, text, _ in within)


def differences(old: list[Row], new: list[Row]) -> list[str]:
    """Rows that one side alone has; empty where both have the same that hang together in the same way."""
    for deep in (0, DEEP):
        here, there = told(old, deep=deep), told(new, deep=deep)
        lines = [f"- {' '.join(row)}" for row in (here - there).elements()]
        lines += [f"+ {' '.join(row)}" for row in (there - here).elements()]
        if lines:
            return sorted(lines, key=lambda line: (line[2:], line[0]))
    return []
