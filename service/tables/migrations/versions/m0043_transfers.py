"""How a call was transferred to a person, and the moment of bridging, at which it is told once."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"

_BEFORE = """
UPDATE calls
SET transferred_at = ended_at,
    transfer = '{"type":"warm","to":null,"name":null,"status":"bridged","cause":null,"started_at":null,"bridged_at":'
        || CAST(ended_at AS VARCHAR(20)) || '}'
WHERE outcome = 'transferred' AND ended_at IS NOT NULL
"""


def upgrade() -> None:
    """Calls that were transferred before were so at their end."""
    op.add_column("calls", sa.Column("transfer", sa.Text()))
    op.add_column("calls", sa.Column("transferred_at", sa.BigInteger()))
    op.add_column("legs", sa.Column("transfer", sa.Text()))
    op.execute(sa.text(_BEFORE.replace(":", "\\:")))
