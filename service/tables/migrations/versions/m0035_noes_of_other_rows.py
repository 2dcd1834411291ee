"""A row of an audience keeps what other rows of the same person say no to."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    """What rows said that were dropped before is not known any more."""
    op.add_column("audience_rows", sa.Column("declined", sa.Text))
