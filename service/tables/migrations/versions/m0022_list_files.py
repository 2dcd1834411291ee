"""Imports of files as they are, and the line of a refused row."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Imports that are there already have their text in `csv`."""
    op.add_column("imports", sa.Column("file", sa.Text()))
    op.add_column("imports", sa.Column("read_as", sa.String(length=100)))
    op.add_column("import_errors", sa.Column("line", sa.BigInteger()))
