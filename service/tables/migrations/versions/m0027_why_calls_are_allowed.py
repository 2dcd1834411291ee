"""Calls keep why they were allowed, contacts how the gate decided, deployments the version of the rules."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Earlier calls have no evidence, and earlier deployments take the current rules at their next round."""
    op.add_column("deployments", sa.Column("rules_version", sa.String(length=40)))
    op.add_column("deployment_contacts", sa.Column("decided_by", sa.String(length=80)))
    op.add_column("deployment_contacts", sa.Column("decided_at", sa.BigInteger))
    op.add_column("calls", sa.Column("evidence", sa.Text))
    op.add_column("phone_numbers", sa.Column("max_calls_per_day", sa.Integer))
    op.create_index("ix_calls_number", "calls", ["org_id", "to_number", "created_at"])
    op.create_index("ix_calls_from", "calls", ["phone_number_id", "created_at"])
    op.create_table(
        "contact_decisions",
        sa.Column("id", sa.String(length=40), primary_key=True),
        sa.Column("deployment_id", sa.String(length=40), nullable=False),
        sa.Column("contact_id", sa.String(length=40), nullable=False),
        sa.Column("decided_at", sa.BigInteger, nullable=False),
        sa.Column("decision", sa.String(length=10), nullable=False),
        sa.Column("rule", sa.String(length=80), nullable=False),
        sa.Column("until", sa.BigInteger),
        sa.Column("rules_version", sa.String(length=40), nullable=False),
    )
    op.create_index("ix_contact_decisions_contact", "contact_decisions", ["deployment_id", "contact_id", "id"])
    op.create_index("ix_contact_decisions_decided", "contact_decisions", ["deployment_id", "decided_at", "id"])
    op.create_table(
        "rules_files",
        sa.Column("version", sa.String(length=40), primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("loaded_at", sa.BigInteger, nullable=False),
    )
