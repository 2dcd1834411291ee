"""Deliveries with two indexes fewer, without foreign keys, and with room on their pages.

Postgres then marks an attempt without touching an index.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Keeps every row; on Postgres those of before keep their pages until they are written anew."""
    if op.get_bind().dialect.name == "postgresql":
        for column in ("org_id", "webhook_id"):
            op.execute(f"ALTER TABLE deliveries DROP CONSTRAINT deliveries_{column}_fkey")
        for name in ("created", "event", "once"):
            op.drop_index(f"ix_deliveries_{name}", "deliveries")
        op.execute("ALTER TABLE deliveries SET (fillfactor = 50)")
    else:
        _copied()
    of_event = sa.text("(CASE WHEN cause = 'event' THEN 1 END)")
    op.create_index("ix_deliveries_once", "deliveries", ["event_id", "webhook_id", of_event], unique=True)


def _copied() -> None:
    """SQLite cannot drop a foreign key."""
    columns = (
        sa.Column("id", sa.String(length=40), primary_key=True),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("webhook_id", sa.String(length=40), nullable=False),
        sa.Column("event_id", sa.String(length=40), nullable=False),
        sa.Column("event_type", sa.String(length=60), nullable=False),
        sa.Column("cause", sa.String(length=10), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("attempt_count", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("next_attempt_at", sa.BigInteger()),
        sa.Column("attempt_started_at", sa.BigInteger()),
        sa.Column("finished_at", sa.BigInteger()),
        sa.Column("last_outcome", sa.String(length=30)),
        sa.Column("last_response_status", sa.Integer()),
        sa.Column("replayed_at", sa.BigInteger()),
    )
    names = ", ".join(column.name for column in columns)
    op.create_table("deliveries_copied", *columns)
    op.execute(f"INSERT INTO deliveries_copied ({names}) SELECT {names} FROM deliveries")
    op.drop_table("deliveries")
    op.rename_table("deliveries_copied", "deliveries")
    op.create_index("ix_deliveries_webhook", "deliveries", ["webhook_id", "created_at", "id"])
    pending, unarrived = "status = 'pending'", "status IN ('failed', 'missed') AND replayed_at IS NULL"
    op.create_index(
        "ix_deliveries_pending", "deliveries", ["webhook_id", "next_attempt_at"], sqlite_where=sa.text(pending)
    )
    op.create_index(
        "ix_deliveries_unarrived",
        "deliveries",
        ["webhook_id", "created_at", "id"],
        sqlite_where=sa.text(unarrived),
    )
