"""Contacts of a large campaign follow its changed rules in pieces."""

import sqlalchemy as sa
from alembic import op

revision = "0063"
down_revision = "0062"


def upgrade() -> None:
    """Nothing was changed in pieces before."""
    op.add_column("deployments", sa.Column("changed_fields", sa.Text()))
    op.add_column("deployments", sa.Column("contacts_changed", sa.BigInteger()))
