"""The sizes of files that are uploaded."""

import sqlalchemy as sa
from alembic import op

revision = "0062"
down_revision = "0059"


def upgrade() -> None:
    """Of uploads that are open no size is known: it is what their next part says."""
    op.add_column("imports", sa.Column("upload_bytes", sa.BigInteger()))
