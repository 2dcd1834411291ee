"""Questions that a person answers on a page of the dashboard."""

import sqlalchemy as sa
from alembic import op

revision = "0070"
down_revision = "0069"


def upgrade() -> None:
    """Nobody has been asked yet."""
    op.create_table(
        "confirmations",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("org_id", sa.String(40), sa.ForeignKey("organizations.id"), nullable=False),
        sa.Column("asked_by", sa.String(40), nullable=False),
        sa.Column("tool", sa.String(60), nullable=False),
        sa.Column("about", sa.String(64), nullable=False),
        sa.Column("mark", sa.String(8), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("deployment_id", sa.String(40)),
        sa.Column("people", sa.Integer()),
        sa.Column("cost_micros", sa.BigInteger()),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.Column("answered_at", sa.BigInteger()),
        sa.Column("answered_by_user_id", sa.String(40), sa.ForeignKey("users.id")),
        sa.Column("taken_at", sa.BigInteger()),
    )
    op.create_index("ix_confirmations_asked", "confirmations", ["org_id", "asked_by", "asked_at"])
    op.create_index("ix_confirmations_open", "confirmations", ["org_id", "ends_at"])
    op.create_index("ix_confirmations_asked_at", "confirmations", ["asked_at"])
