"""What a person has said about a call of which nobody knew whether the telephone rang, when, and who it was."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"


def upgrade() -> None:
    """Of calls that were resolved before, only the audit log knows by whom."""
    op.add_column("calls", sa.Column("resolved", sa.Text()))
