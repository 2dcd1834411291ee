"""Changes of many rows in pieces: contacts that are added or dropped, audiences that were deleted."""

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"


def upgrade() -> None:
    """Nothing was changed in pieces before."""
    op.add_column("deployments", sa.Column("contact_changes", sa.String(20)))
    op.add_column("deployments", sa.Column("contacts_added", sa.BigInteger()))
    op.add_column("audiences", sa.Column("deleted_at", sa.BigInteger()))
    for name, table, column, where in (
        ("ix_deployments_changing", "deployments", "id", "contact_changes IS NOT NULL"),
        ("ix_audiences_deleted", "audiences", "deleted_at", "deleted_at IS NOT NULL"),
    ):
        op.create_index(name, table, [column], sqlite_where=sa.text(where), postgresql_where=sa.text(where))
