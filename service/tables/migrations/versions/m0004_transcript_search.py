"""Searching transcripts: a full-text table on SQLite, an indexed one on Postgres."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Creates the table of searchable words."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE transcript_words USING fts5(call_id UNINDEXED, words, tokenize = 'ascii')")
        return
    op.create_table(
        "transcript_words",
        sa.Column("call_id", sa.String(length=40), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("call_id"),
    )
    op.execute("CREATE INDEX ix_transcript_words ON transcript_words USING gin (to_tsvector('simple', words))")
