"""What a carrier tells of a call in requests of its own, and where it reaches the process that has the call."""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"


def upgrade() -> None:
    """Legs that are under way were placed at carriers that tell nothing in this way."""
    op.add_column("legs", sa.Column("host_url", sa.String(500)))
    op.add_column("legs", sa.Column("carrier_said", sa.Text()))
