"""What a person has said of a call's disposition, with the agent's own, when, and who it was."""

import sqlalchemy as sa
from alembic import op

revision = "0069"
down_revision = "0068"


def upgrade() -> None:
    op.add_column("calls", sa.Column("corrected", sa.Text()))
