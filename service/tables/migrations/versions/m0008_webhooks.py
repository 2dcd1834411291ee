"""Webhook subscriptions, deliveries of events, and the log of attempts."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Adds the tables. Events of before had no subscriber: they are not sent to anybody later."""
    op.add_column("outbox", sa.Column("subject_id", sa.String(length=40), nullable=True))
    op.add_column("outbox", sa.Column("fanned_out_at", sa.BigInteger(), nullable=True))
    op.execute("UPDATE outbox SET fanned_out_at = created_at")
    op.create_index("ix_outbox_subject", "outbox", ["subject_id", "created_at", "id"])
    _partial("ix_outbox_new", "outbox", ["id"], "fanned_out_at IS NULL")
    _webhooks()
    _deliveries()


def _partial(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    op.create_index(name, table, columns, unique=unique, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _webhooks() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(length=40), primary_key=True),
        sa.Column("org_id", sa.String(length=40), sa.ForeignKey("organizations.id"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by_key_id", sa.String(length=40)),
        sa.Column("metadata", sa.Text(), nullable=False, server_default="{}"),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("secret", sa.String(length=200), nullable=False),
        sa.Column("previous_secret", sa.String(length=200)),
        sa.Column("previous_secret_until", sa.BigInteger()),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("disabled_reason", sa.String(length=40)),
        sa.Column("disabled_at", sa.BigInteger()),
        sa.Column("enabled_at", sa.BigInteger(), nullable=False),
        sa.Column("consecutive_failures", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("last_success_at", sa.BigInteger()),
        sa.Column("last_failure_at", sa.BigInteger()),
        sa.Column("last_response_status", sa.Integer()),
        sa.Column("deleted_at", sa.BigInteger()),
    )
    op.create_index("ix_webhooks_created", "webhooks", ["org_id", "created_at", "id"])
    op.create_table(
        "webhook_lanes",
        sa.Column("webhook_id", sa.String(length=40), sa.ForeignKey("webhooks.id"), primary_key=True),
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("lease_owner", sa.String(length=40)),
        sa.Column("lease_until", sa.BigInteger()),
    )
    op.create_index("ix_webhook_lanes_due", "webhook_lanes", ["due_at"])


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", sa.String(length=40), primary_key=True),
        sa.Column("org_id", sa.String(length=40), sa.ForeignKey("organizations.id"), nullable=False),
        sa.Column("webhook_id", sa.String(length=40), sa.ForeignKey("webhooks.id"), nullable=False),
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
    op.create_index("ix_deliveries_webhook", "deliveries", ["webhook_id", "created_at", "id"])
    op.create_index("ix_deliveries_event", "deliveries", ["event_id"])
    op.create_index("ix_deliveries_created", "deliveries", ["created_at"])
    _partial("ix_deliveries_pending", "deliveries", ["webhook_id", "next_attempt_at"], "status = 'pending'")
    unarrived = "status IN ('failed', 'missed') AND replayed_at IS NULL"
    _partial("ix_deliveries_unarrived", "deliveries", ["webhook_id", "created_at", "id"], unarrived)
    _partial("ix_deliveries_once", "deliveries", ["event_id", "webhook_id"], "cause = 'event'", unique=True)
    op.create_table(
        "delivery_attempts",
        sa.Column("delivery_id", sa.String(length=40), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("duration_ms", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(length=30), nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("request_headers", sa.Text(), nullable=False),
        sa.Column("response_status", sa.Integer()),
        sa.Column("response_excerpt", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
    )
