"""A wallet may warn of no low balance at all."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Lets the threshold be null."""
    with op.batch_alter_table("wallets") as wallets:
        wallets.alter_column("threshold_micros", existing_type=sa.BigInteger(), nullable=True)
