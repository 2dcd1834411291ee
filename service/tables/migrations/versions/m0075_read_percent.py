"""How much of an import is done before its first row is taken."""

import sqlalchemy as sa
from alembic import op

revision = "0075"
down_revision = "0074"


def upgrade() -> None:
    """Of imports that are under way it is written down within seconds."""
    op.add_column("imports", sa.Column("read_percent", sa.Integer()))
