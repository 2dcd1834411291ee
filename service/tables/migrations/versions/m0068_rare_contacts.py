"""Contacts of a campaign whose state, last outcome or last disposition few contacts have: an index of each."""

import sqlalchemy as sa
from alembic import op

revision = "0068"
down_revision = "0067"

_TABLE = "deployment_contacts"


def upgrade() -> None:
    _index("states", "status", "'pending', 'in_flight', 'retry_waiting', 'completed', 'exhausted'")
    _index("outcomes", "last_outcome", "'answered', 'voicemail', 'no_answer', 'busy'")
    usual = "'goal_met', 'interested', 'not_interested', 'callback_requested', 'not_available', 'incomplete'"
    _index("dispositions", "last_disposition", usual)


def _index(name: str, column: str, usual: str) -> None:
    rare = sa.text(f"{column} NOT IN ({usual})")
    columns = ["deployment_id", column, "position"]
    op.create_index(f"ix_deployment_contacts_{name}", _TABLE, columns, sqlite_where=rare, postgresql_where=rare)
