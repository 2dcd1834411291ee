"""Of how many rows of an audience it is known that none holds a clear no."""

import sqlalchemy as sa
from alembic import op

revision = "0076"
down_revision = "0075"


def upgrade() -> None:
    """Of audiences that have rows already it is not known."""
    op.add_column("audiences", sa.Column("rows_without_noes", sa.BigInteger(), nullable=False, server_default="0"))
