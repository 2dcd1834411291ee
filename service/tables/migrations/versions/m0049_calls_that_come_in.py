"""Calls that come in: the question of a number's routing webhook, its log, and simulated callers who wait."""

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"


def upgrade() -> None:
    """No call has come in before. Several may come in to one number at once."""
    op.add_column("calls", sa.Column("inbound", sa.Text()))
    for column in (
        sa.Column("routing_url", sa.Text()),
        sa.Column("routing_secret", sa.Text()),
        sa.Column("routing_enabled", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("routing_fallback", sa.Text()),
        sa.Column("routing_failures", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("routing_failing_since", sa.BigInteger()),
    ):
        op.add_column("phone_numbers", column)
    op.drop_index("uq_calls_in_flight", "calls")
    condition = sa.text("ended_at IS NULL AND call_type <> 'inbound'")
    op.create_index(
        "uq_calls_in_flight",
        "calls",
        ["org_id", "to_number"],
        unique=True,
        sqlite_where=condition,
        postgresql_where=condition,
    )
    op.create_table(
        "routing_requests",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("org_id", sa.String(40), sa.ForeignKey("organizations.id"), nullable=False),
        sa.Column("phone_number_id", sa.String(40), nullable=False),
        sa.Column("call_id", sa.String(40)),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("is_test", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("outcome", sa.String(30), nullable=False),
        sa.Column("status_code", sa.Integer()),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("latency_ms", sa.Integer(), nullable=False),
        sa.Column("action", sa.String(20)),
    )
    op.create_index("ix_routing_requests", "routing_requests", ["phone_number_id", "created_at", "id"])
    op.create_index("ix_routing_requests_age", "routing_requests", ["created_at"])
    op.create_index("ix_routing_requests_call", "routing_requests", ["call_id"])
    op.create_table(
        "simulated_callers",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("org_id", sa.String(40), sa.ForeignKey("organizations.id"), nullable=False),
        sa.Column("deployment_id", sa.String(40), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("from_number", sa.String(20), nullable=False),
        sa.Column("steering", sa.Text(), nullable=False),
    )
    op.create_index("ix_simulated_callers", "simulated_callers", ["deployment_id", "at_ms", "id"])
