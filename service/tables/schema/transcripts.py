"""The tables of what was said on calls."""

from sqlalchemy import Column, ForeignKey, String, Table, Text

from callwright.service.tables.schema.accounts import metadata
from callwright.service.tables.schema.packed import TURNS

transcripts = Table(
    "transcripts",
    metadata,
    Column("call_id", String(40), ForeignKey("calls.id"), primary_key=True),
    Column("org_id", String(40), nullable=False),
    Column("turns", TURNS, nullable=False),
)

transcript_words = Table(
    "transcript_words",
    metadata,
    Column("call_id", String(40), primary_key=True),
    Column("words", Text, nullable=False),
)
"""The searchable words of transcripts, on Postgres a table with an index.

On SQLite a full-text table (FTS5) without these columns, beside which `transcript_words_places` says whose words are
where.
"""
