"""What agents can do on a call beside talking, and the encrypted secrets of that."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"


def upgrade() -> None:
    """No agent has any."""
    op.add_column("agents", sa.Column("call_tools", sa.Text()))
    op.add_column("agents", sa.Column("call_tool_secrets", sa.Text()))
