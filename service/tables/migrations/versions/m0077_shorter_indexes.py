"""Entries and events of a moment are sorted when they are read, and the simulated network's record needs no index."""

import sqlalchemy as sa
from alembic import op

revision = "0077"
down_revision = "0076"


def upgrade() -> None:
    """Takes some seconds for a million calls."""
    op.drop_index("ix_audit_log_at", "audit_log")
    op.create_index("ix_audit_log_at", "audit_log", ["org_id", "at"])
    op.drop_index("ix_outbox_subject", "outbox")
    op.create_index("ix_outbox_subject", "outbox", ["subject_id", "created_at"])
    if op.get_bind().dialect.name != "sqlite":
        return
    op.create_table(
        "new_simulated_dials",
        sa.Column("call_id", sa.String(40), primary_key=True),
        sa.Column("deployment_id", sa.String(40), nullable=False),
        sa.Column("contact_id", sa.String(40), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("dialled_at", sa.BigInteger(), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO new_simulated_dials (call_id, deployment_id, contact_id, attempt, dialled_at, times) "
        "SELECT call_id, deployment_id, contact_id, attempt, dialled_at, times FROM simulated_dials ORDER BY call_id"
    )
    op.drop_table("simulated_dials")
    op.rename_table("new_simulated_dials", "simulated_dials")
