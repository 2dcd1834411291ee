"""Calls sorted by how long they lasted and when they ended; movements of the wallet that not every call makes.

The index of the second in which a call was made goes: that of the moment leads to the same calls.
"""

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"

_RARE = sa.text("type NOT IN ('call_charge', 'reservation', 'reservation_release')")


def upgrade() -> None:
    """A call has one index more than before."""
    op.drop_index("ix_calls_second", "calls")
    owner = sa.text("(org_id || '')")
    op.create_index("ix_calls_duration", "calls", [owner, "duration_ms", "id"])
    op.create_index("ix_calls_end", "calls", [owner, sa.text("coalesce(ended_at, 0)"), "id"])
    rare = ["org_id", "type", "created_at", "id"]
    op.create_index("ix_transactions_rare", "transactions", rare, sqlite_where=_RARE, postgresql_where=_RARE)
