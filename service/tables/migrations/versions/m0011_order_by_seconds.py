"""Indexes of the second in which things were made, for lists that are sorted by it and then by something else."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Adds an index to each table whose list has several sort fields."""
    second = sa.text("(created_at / 1000) DESC")
    for table in ("agents", "audiences", "deployments"):
        op.create_index(f"ix_{table}_second", table, ["org_id", second, "name", "id"])
    op.create_index("ix_phone_numbers_second", "phone_numbers", ["org_id", second, "number", "id"])
    op.create_index("ix_calls_second", "calls", ["org_id", second, "id"])
