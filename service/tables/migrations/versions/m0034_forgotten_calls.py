"""Calls to people whose data was deleted go on counting for the caps, by a keyed hash of the line."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    """What was deleted before is not known any more."""
    op.create_table(
        "forgotten_calls",
        sa.Column("call_id", sa.String(40), primary_key=True),
        sa.Column("org_id", sa.String(40), sa.ForeignKey("organizations.id"), nullable=False),
        sa.Column("line", sa.String(32), nullable=False),
        sa.Column("dialled_at", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.String(30)),
        sa.Column("simulated", sa.Boolean(), nullable=False),
    )
    op.create_index("ix_forgotten_calls_line", "forgotten_calls", ["org_id", "line", "dialled_at"])
    op.create_index("ix_forgotten_calls_dialled", "forgotten_calls", ["org_id", "dialled_at"])
