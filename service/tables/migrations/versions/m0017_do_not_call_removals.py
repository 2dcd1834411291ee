"""How often numbers were taken off the do-not-call list of an organization: a plan from before then is stale."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Nothing was taken off yet, as far as any plan is concerned."""
    column = sa.Column("do_not_call_removals", sa.BigInteger(), nullable=False, server_default="0")
    op.add_column("organizations", column)
