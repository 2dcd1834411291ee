"""What a person has to decide is a compliance review; the newest answered calls of a campaign are found at once."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"

_UNDECIDED, _OPEN = sa.text("decided_at IS NULL"), sa.text("status = 'open'")
_ANSWERED = sa.text("outcome IN ('answered', 'transferred')")


def upgrade() -> None:
    """There is no review yet."""
    op.create_table(
        "compliance_reviews",
        sa.Column("id", sa.String(length=40), primary_key=True),
        sa.Column("org_id", sa.String(length=40), sa.ForeignKey("organizations.id"), nullable=False),
        sa.Column("category", sa.String(length=40), nullable=False),
        sa.Column("severity", sa.String(length=10), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("subject_type", sa.String(length=20), nullable=False),
        sa.Column("subject_id", sa.String(length=40), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("facts", sa.Text(), server_default="{}", nullable=False),
        sa.Column("blocking", sa.Boolean(), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("decided_at", sa.BigInteger()),
        sa.Column("decided_by", sa.String(length=60)),
        sa.Column("decision_note", sa.Text()),
    )
    table = "compliance_reviews"
    op.create_index("ix_compliance_reviews_created", table, ["org_id", "created_at", "id"])
    op.create_index("ix_compliance_reviews_subject", table, ["subject_id", "category", "created_at"])
    _partial("uq_compliance_reviews_undecided", table, ["subject_id", "category"], _UNDECIDED, unique=True)
    _partial("ix_compliance_reviews_waiting", table, ["org_id"], _UNDECIDED)
    _partial("ix_compliance_reviews_due", table, ["due_at"], _OPEN)
    _partial("ix_calls_answered", "calls", ["deployment_id", "ended_at"], _ANSWERED)


def _partial(name: str, table: str, columns: list[str], where: sa.TextClause, *, unique: bool = False) -> None:
    op.create_index(name, table, columns, unique=unique, sqlite_where=where, postgresql_where=where)
