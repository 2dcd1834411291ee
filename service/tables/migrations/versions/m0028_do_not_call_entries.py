"""Entries of the do-not-call list have a note and who added them, and are listed in order."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    """Entries that are there have no note, and nobody is known who added them."""
    op.add_column("do_not_call", sa.Column("note", sa.Text()))
    op.add_column("do_not_call", sa.Column("created_by_key_id", sa.String(length=40)))
    op.create_index("ix_do_not_call_list", "do_not_call", ["org_id", "created_at", "id"])
    op.create_index("ix_do_not_call_lists", "do_not_call", ["org_id", "simulated", "created_at", "id"])
    op.create_index("ix_do_not_call_reasons", "do_not_call", ["org_id", "reason", "created_at", "id"])
    where = sa.text("source_call_id IS NOT NULL")
    op.create_index(
        "ix_do_not_call_calls",
        "do_not_call",
        ["org_id", "source_call_id"],
        sqlite_where=where,
        postgresql_where=where,
    )
