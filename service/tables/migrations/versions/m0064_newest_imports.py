"""The newest import of an audience comes from an index: its moment stands behind its file, which may be long."""

from alembic import op

revision = "0064"
down_revision = "0063"


def upgrade() -> None:
    """The index of the audience alone is a part of it."""
    op.create_index("ix_imports_newest", "imports", ["audience_id", "created_at", "id"])
    op.drop_index("ix_imports_audience", "imports")
