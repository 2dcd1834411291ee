"""What was said so far in a call on a line, so that it is not lost with the process that carries the call."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"


def upgrade() -> None:
    """Nothing is known of calls that are under way."""
    op.add_column("legs", sa.Column("so_far", sa.Text()))
