"""How often the settings of a deployment or a phone number were changed: what was put back is not what it was."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Nothing was changed yet, as far as anybody who relies on a revision is concerned."""
    for table in ("deployments", "phone_numbers"):
        column = sa.Column("settings_changes", sa.BigInteger(), nullable=False, server_default="0")
        op.add_column(table, column)
