"""What a deployment was started by, keys of a person's assistant, and the tool that a write came through."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Adds the columns. What is there already was started without a plan, by ordinary keys, and without a tool."""
    op.add_column("deployments", sa.Column("plan_id", sa.String(length=200), nullable=True))
    op.add_column("deployments", sa.Column("started_by_key_id", sa.String(length=40), nullable=True))
    op.add_column("api_keys", sa.Column("kind", sa.String(length=10), nullable=False, server_default="live"))
    op.add_column("api_keys", sa.Column("profile", sa.String(length=20), nullable=True))
    op.add_column("api_keys", sa.Column("spending_cap_micros", sa.BigInteger(), nullable=True))
    op.add_column("audit_log", sa.Column("tool", sa.String(length=64), nullable=True))
