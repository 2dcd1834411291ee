"""Movements between balance and reserved have an index by time."""

import sqlalchemy as sa
from alembic import op

revision = "0080"
down_revision = "0079"

_HELD = sa.text("type IN ('reservation', 'reservation_release')")


def upgrade() -> None:
    """A list of them reads no charges."""
    held = ["org_id", "created_at", "id", "type"]
    op.create_index("ix_transactions_held", "transactions", held, sqlite_where=_HELD, postgresql_where=_HELD)
