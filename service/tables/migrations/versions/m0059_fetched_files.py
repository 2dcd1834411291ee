"""Files of imports that the service fetches itself."""

import sqlalchemy as sa
from alembic import op

revision = "0059"
down_revision = "0058"


def upgrade() -> None:
    """No import waits for a file that is fetched."""
    op.add_column("imports", sa.Column("source_url", sa.Text()))
    op.add_column("imports", sa.Column("source_tag", sa.String(200)))
    where = sa.text("source_url IS NOT NULL")
    op.create_index("ix_imports_source", "imports", ["created_at"], sqlite_where=where, postgresql_where=where)
