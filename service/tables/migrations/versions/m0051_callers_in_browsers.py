"""Links by which somebody calls a number from a browser."""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"


def upgrade() -> None:
    """Nobody has called from a browser before."""
    op.create_table(
        "browser_callers",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("org_id", sa.String(40), sa.ForeignKey("organizations.id"), nullable=False),
        sa.Column("phone_number_id", sa.String(40), nullable=False),
        sa.Column("from_number", sa.String(20), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
    )
    op.create_index("ix_browser_callers", "browser_callers", ["expires_at"])
