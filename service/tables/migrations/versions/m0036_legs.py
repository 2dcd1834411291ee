"""Legs: what line hosts place at carriers, one row for each call until its end is recorded."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    """There are no calls on carriers' lines before."""
    op.create_table(
        "legs",
        sa.Column("call_id", sa.String(40), primary_key=True),
        sa.Column("org_id", sa.String(40), sa.ForeignKey("organizations.id"), nullable=False),
        sa.Column("deployment_id", sa.String(40), nullable=False),
        sa.Column("carrier", sa.String(40), nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("provider_call_id", sa.String(200)),
        sa.Column("lease_owner", sa.String(40)),
        sa.Column("lease_until", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("placing_at", sa.BigInteger()),
        sa.Column("initiated_at", sa.BigInteger()),
        sa.Column("ringing_at", sa.BigInteger()),
        sa.Column("answered_at", sa.BigInteger()),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("hang_up", sa.Text()),
        sa.Column("result", sa.Text()),
    )
    op.create_index("ix_legs_state", "legs", ["state", "created_at"])
    op.create_index("ix_legs_lease", "legs", ["lease_owner", "state"])
