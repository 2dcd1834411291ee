"""Numbers that an organization does not call, and why a contact of a campaign is left out."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Adds the list, empty. Contacts that were left out before have no reason."""
    op.create_table(
        "do_not_call",
        sa.Column("id", sa.String(length=40), primary_key=True),
        sa.Column("org_id", sa.String(length=40), sa.ForeignKey("organizations.id"), nullable=False),
        sa.Column("number", sa.String(length=20), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(length=40), nullable=False),
        sa.Column("source_call_id", sa.String(length=40)),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger()),
    )
    op.create_index("uq_do_not_call_number", "do_not_call", ["org_id", "simulated", "number"], unique=True)
    op.add_column("deployment_contacts", sa.Column("status_reason", sa.String(length=40)))
