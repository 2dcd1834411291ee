"""The audit log names the person for whom a personal key acted."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Entries that are there already name the key alone."""
    op.add_column("audit_log", sa.Column("user_id", sa.String(length=40)))
