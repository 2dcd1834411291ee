"""Noes of rows that were left out, by the number that no row had."""

import sqlalchemy as sa
from alembic import op

revision = "0079"
down_revision = "0078"


def upgrade() -> None:
    """Of rows that were left out before, such noes are not known."""
    op.create_table(
        "declined_lines",
        sa.Column("audience_id", sa.String(40), primary_key=True),
        sa.Column("line", sa.String(32), primary_key=True),
        sa.Column("said", sa.Text(), nullable=False),
        sqlite_with_rowid=False,
    )
