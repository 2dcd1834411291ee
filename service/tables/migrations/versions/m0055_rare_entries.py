"""Indexes of what is rare: events and audit entries that not every call has. Calls of a contact have an index."""

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"

_OF_EVERY_CALL = "('call.placed', 'call.received', 'call.ended')"


def upgrade() -> None:
    """The events and entries of every call are in none of them, so that a call costs nothing more."""
    for name, table, columns, where in (
        ("ix_outbox_rare", "outbox", _of("type", "created_at"), "type NOT IN ('call.started', 'call.completed')"),
        ("ix_audit_log_rare", "audit_log", _of("action", "at"), f"action NOT IN {_OF_EVERY_CALL}"),
        ("ix_audit_log_actor", "audit_log", _of("actor", "at"), "actor <> 'platform'"),
        ("ix_audit_log_tool", "audit_log", _of("tool", "at"), "tool IS NOT NULL"),
    ):
        op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
    op.create_index("uq_calls_contact", "calls", ["contact_id", "deployment_id", "attempt_number"], unique=True)
    op.drop_index("uq_calls_attempt", "calls")


def _of(name: str, moment: str) -> list[str]:
    return ["org_id", name, moment, "id"]
