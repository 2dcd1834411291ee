"""The calls of each phone number by the hour."""

import time

import sqlalchemy as sa
from alembic import op

revision = "0078"
down_revision = "0077"
_HOUR_MS = 3_600_000
_DAYS_MS = 3 * 24 * _HOUR_MS


def upgrade() -> None:
    """Counts the calls of the last days: reads all calls once."""
    op.create_table(
        "number_hours",
        sa.Column("phone_number_id", sa.String(40), primary_key=True),
        sa.Column("hour", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("call_type", sa.String(10), primary_key=True),
        sa.Column("calls", sa.Integer(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.get_bind().execute(
        sa.text(
            "INSERT INTO number_hours (phone_number_id, hour, call_type, calls)"
            f" SELECT phone_number_id, created_at / {_HOUR_MS}, call_type, count(*) FROM calls"
            " WHERE phone_number_id IS NOT NULL AND created_at > :since"
            f" GROUP BY phone_number_id, created_at / {_HOUR_MS}, call_type"
        ),
        {"since": int(time.time() * 1_000) - _DAYS_MS},
    )
