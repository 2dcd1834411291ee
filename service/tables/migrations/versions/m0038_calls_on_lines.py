"""Calls say what came of them on a line: carrier, recording, status of SIP, who answered, how fast the agent was."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    """Calls before have none of these: all were made on the simulated network."""
    for column in (
        sa.Column("carrier", sa.String(40)),
        sa.Column("recorded", sa.Boolean()),
        sa.Column("sip_code", sa.Integer()),
        sa.Column("answered_by_carrier", sa.String(30)),
        sa.Column("answered_by_words", sa.String(30)),
        sa.Column("latency_p50_ms", sa.Integer()),
        sa.Column("latency_p95_ms", sa.Integer()),
    ):
        op.add_column("calls", column)
