"""A refused row of an import has the list's own id of the person."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """Rows that were refused before have none."""
    op.add_column("import_errors", sa.Column("external_id", sa.String(length=1000)))
