"""Campaigns stop by themselves when calls fail, and share the lines of their organization."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    """A campaign that is there already counts as active since its start, and as one that has waited longest."""
    op.add_column("deployments", sa.Column("active_since_ms", sa.BigInteger()))
    op.add_column("deployments", sa.Column("claimed_at", sa.BigInteger()))
    _partial("ix_deployments_calling", "deployments", ["org_id"], "status = 'active' OR in_flight > 0")
    op.add_column("organizations", sa.Column("reserved_inbound_concurrency", sa.Integer()))
    ended = ["deployment_id", "ended_at", "created_at", "outcome"]
    op.create_index("ix_calls_ended", "calls", ended)
    _partial("ix_calls_taken", "calls", ended, "outcome IN ('answered', 'transferred', 'abandoned')")
    op.create_table(
        "deployment_costs",
        sa.Column("deployment_id", sa.String(40), sa.ForeignKey("deployments.id"), primary_key=True),
        sa.Column("slice_at", sa.BigInteger(), primary_key=True),
        sa.Column("cost_micros", sa.BigInteger(), nullable=False),
    )


def _partial(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)
