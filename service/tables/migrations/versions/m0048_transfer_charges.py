"""Carriers charge for the call to a person too, so several charges of one call may be awaited."""

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"
_COLUMNS = "call_id, org_id, deployment_id, carrier, charge_id, ended_at, asked, next_at"


def upgrade() -> None:
    """What is awaited by now is for calls themselves. The table is made anew, because its key has one more column."""
    op.execute("CREATE TABLE awaited_before AS SELECT * FROM awaited_charges")
    op.drop_table("awaited_charges")
    op.create_table(
        "awaited_charges",
        sa.Column("call_id", sa.String(40), primary_key=True),
        sa.Column("org_id", sa.String(40), sa.ForeignKey("organizations.id"), nullable=False),
        sa.Column("deployment_id", sa.String(40), nullable=False),
        sa.Column("carrier", sa.String(40), nullable=False),
        sa.Column("charge_id", sa.String(200), primary_key=True),
        sa.Column("item", sa.String(20), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=False),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.BigInteger(), nullable=False),
    )
    op.create_index("ix_awaited_charges_next", "awaited_charges", ["carrier", "next_at"])
    op.create_index("ix_awaited_charges_deployment", "awaited_charges", ["deployment_id"])
    op.execute(f"INSERT INTO awaited_charges ({_COLUMNS}, item) SELECT {_COLUMNS}, 'telephony' FROM awaited_before")
    op.drop_table("awaited_before")
