"""Calls that ended more than an hour after they were made have an index: all others ended close to that."""

import sqlalchemy as sa
from alembic import op

revision = "0067"
down_revision = "0066"


def upgrade() -> None:
    long = sa.text("CASE WHEN ended_at - created_at NOT BETWEEN 0 AND 3600000 THEN 1 END = 1")
    op.create_index(
        "ix_calls_long", "calls", ["org_id", "ended_at", "created_at"], sqlite_where=long, postgresql_where=long
    )
