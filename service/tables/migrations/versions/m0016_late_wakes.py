"""Lanes of webhook subscriptions that are to be woken once nobody holds their rows."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Adds the list, empty."""
    op.create_table(
        "late_wakes",
        sa.Column("id", sa.String(length=40), primary_key=True),
        sa.Column("webhook_id", sa.String(length=40), nullable=False),
    )
