"""Smaller indexes of what every call leaves: an index of a subject needs no organization, one of times no id.

From here on texts of events, calls and transcripts may be compressed on SQLite; what is stored stays as it is.
"""

from alembic import op

revision = "0058"
down_revision = "0057"


def upgrade() -> None:
    """A subject is an id, so it needs no organization before it. Nothing asks for the dials of a contact."""
    op.drop_index("ix_simulated_dials_contact", "simulated_dials")
    op.drop_index("ix_audit_log_subject", "audit_log")
    op.create_index("ix_audit_log_subject", "audit_log", ["subject", "at"])
    op.drop_index("ix_outbox_created", "outbox")
    op.create_index("ix_outbox_created", "outbox", ["org_id", "created_at"])
