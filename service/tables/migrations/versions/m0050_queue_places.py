"""Callers who wait for a line: their place in the queue."""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"


def upgrade() -> None:
    """Nobody has waited on a real line before."""
    op.add_column("legs", sa.Column("queue_place", sa.Integer()))
