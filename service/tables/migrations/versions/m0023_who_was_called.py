"""Calls keep the name and the external id of the person, as the list has them at the call."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Calls that are there already keep none."""
    op.add_column("calls", sa.Column("contact_name", sa.String(length=200)))
    op.add_column("calls", sa.Column("external_id", sa.String(length=1000)))
