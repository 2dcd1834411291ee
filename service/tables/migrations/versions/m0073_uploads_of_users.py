"""Who began an upload in the dashboard."""

import sqlalchemy as sa
from alembic import op

revision = "0073"
down_revision = "0072"


def upgrade() -> None:
    """Of uploads that are open nobody is known: they end with their time, as they did."""
    op.add_column("imports", sa.Column("created_by_user_id", sa.String(40)))
