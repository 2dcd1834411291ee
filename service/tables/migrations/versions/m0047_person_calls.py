"""The call to a person who is to take a call over, as its carrier tells of it."""

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"


def upgrade() -> None:
    """Legs that are under way have none: no carrier made such calls before."""
    op.add_column("legs", sa.Column("person_call", sa.Text()))
