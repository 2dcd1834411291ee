"""Price lists of the installation, and charges that carriers tell later."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"


def upgrade() -> None:
    """Campaigns that have started keep the prices that they started with: those without a list."""
    op.create_table(
        "price_lists",
        sa.Column("version", sa.String(40), primary_key=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("loaded_at", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "awaited_charges",
        sa.Column("call_id", sa.String(40), primary_key=True),
        sa.Column("org_id", sa.String(40), sa.ForeignKey("organizations.id"), nullable=False),
        sa.Column("deployment_id", sa.String(40), nullable=False),
        sa.Column("carrier", sa.String(40), nullable=False),
        sa.Column("charge_id", sa.String(200), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=False),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.BigInteger(), nullable=False),
    )
    op.create_index("ix_awaited_charges_next", "awaited_charges", ["carrier", "next_at"])
    op.create_index("ix_awaited_charges_deployment", "awaited_charges", ["deployment_id"])
    op.add_column("deployments", sa.Column("prices_version", sa.String(40)))
    op.add_column("deployments", sa.Column("own_services", sa.String(20)))
    op.execute("UPDATE deployments SET prices_version = '' WHERE started_at IS NOT NULL")
