"""What a key answers for: of a deployment since it set it going, of one that another key went on with, of renewals."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Adds the columns and the table. Numbers of before are renewed for the key that rented them."""
    before = sa.Column("spend_before_micros", sa.BigInteger(), nullable=False, server_default="0")
    op.add_column("deployments", before)
    op.add_column("phone_numbers", sa.Column("renewed_by_key_id", sa.String(length=40), nullable=True))
    op.execute("UPDATE phone_numbers SET renewed_by_key_id = created_by_key_id")
    op.create_table(
        "past_commitments",
        sa.Column("key_id", sa.String(length=40), nullable=False),
        sa.Column("deployment_id", sa.String(length=40), nullable=False),
        sa.Column("micros", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
    )
    op.create_index("ix_past_commitments_key", "past_commitments", ["key_id"])
