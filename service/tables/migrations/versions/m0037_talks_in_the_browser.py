"""Talks in the browser: the hash of the token that opens the websocket of a leg."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    """There are no talks before."""
    op.add_column("legs", sa.Column("token_hash", sa.String(64)))
