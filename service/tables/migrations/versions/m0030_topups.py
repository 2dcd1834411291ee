"""Top-ups through a payment provider."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    """Makes the table; there are no top-ups before."""
    op.create_table(
        "topups",
        sa.Column("id", sa.String(length=40), primary_key=True),
        sa.Column("org_id", sa.String(length=40), sa.ForeignKey("organizations.id"), nullable=False),
        sa.Column("amount_micros", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("provider", sa.String(length=20), nullable=False),
        sa.Column("provider_reference", sa.String(length=255), unique=True),
        sa.Column("payment_reference", sa.String(length=255), unique=True),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("paid_micros", sa.BigInteger()),
        sa.Column("refunded_micros", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("settled_at", sa.BigInteger()),
        sa.Column("next_look_at", sa.BigInteger()),
    )
    op.create_index("ix_topups_created", "topups", ["org_id", "created_at", "id"])
    op.create_index("ix_topups_next_look", "topups", ["next_look_at"])
