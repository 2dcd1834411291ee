"""Files of imports that are uploaded."""

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"


def upgrade() -> None:
    """No import waits for a file."""
    op.add_column("imports", sa.Column("upload_token_hash", sa.String(64)))
    op.add_column("imports", sa.Column("upload_expires_at", sa.BigInteger()))
    op.add_column("imports", sa.Column("begun_at", sa.BigInteger()))
    where = sa.text("upload_token_hash IS NOT NULL")
    op.create_index("ix_imports_upload", "imports", ["upload_token_hash"], sqlite_where=where, postgresql_where=where)
