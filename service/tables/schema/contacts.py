"""The table of a deployment's contacts. `schema.accounts` says the units."""

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    literal_column,
    text,
)

from callwright.service.platform.database.columns import partial_index
from callwright.service.tables.schema.accounts import Moment, metadata

USUAL = {
    "status": frozenset({"pending", "in_flight", "retry_waiting", "completed", "exhausted"}),
    "last_outcome": frozenset({"answered", "voicemail", "no_answer", "busy"}),
    "last_disposition": frozenset(
        {"goal_met", "interested", "not_interested", "callback_requested", "not_available", "incomplete"}
    ),
}
"""What most contacts of a campaign have in these columns, now or in the end."""
_RARE_STATE = "status NOT IN ('pending', 'in_flight', 'retry_waiting', 'completed', 'exhausted')"
_RARE_OUTCOME = "last_outcome NOT IN ('answered', 'voicemail', 'no_answer', 'busy')"
_RARE_DISPOSITION = (
    "last_disposition NOT IN "
    "('goal_met', 'interested', 'not_interested', 'callback_requested', 'not_available', 'incomplete')"
)
RARE: dict[str, ColumnElement[bool]] = {
    "status": literal_column(f"deployment_contacts.{_RARE_STATE}"),
    "last_outcome": literal_column(f"deployment_contacts.{_RARE_OUTCOME}"),
    "last_disposition": literal_column(f"deployment_contacts.{_RARE_DISPOSITION}"),
}
"""The conditions of contacts that have something else there. These have an index of each column."""
WAITS: ColumnElement[bool] = literal_column("deployment_contacts.status IN ('pending', 'retry_waiting')")
"""The condition of contacts that wait for a call. These have an index by when they are due."""

deployment_contacts = Table(
    "deployment_contacts",
    metadata,
    Column("deployment_id", String(40), ForeignKey("deployments.id"), primary_key=True),
    Column("id", String(40), primary_key=True),
    Column("org_id", String(40), nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("phone", String(20), nullable=False),
    Column("status", String(20), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due_at", Moment),
    Column("next_at", Moment),
    Column("attempt_times", Text, nullable=False),
    Column("caller_number_id", String(40)),
    Column("last_outcome", String(30)),
    Column("last_disposition", String(40)),
    Column("last_call_id", String(40)),
    Column("status_reason", String(40)),
    Column("decided_by", String(80)),
    Column("decided_at", Moment),
    Column("priority", Integer),
    partial_index(
        "ix_deployment_contacts_priority",
        *("deployment_id", "priority", "next_at", "position"),
        where=text("status IN ('pending', 'retry_waiting') AND priority IS NOT NULL"),
    ),
    partial_index(
        "ix_deployment_contacts_due",
        "deployment_id",
        "next_at",
        "position",
        where=text("status IN ('pending', 'retry_waiting')"),
    ),
    partial_index("ix_deployment_contacts_states", "deployment_id", "status", "position", where=text(_RARE_STATE)),
    partial_index(
        "ix_deployment_contacts_outcomes", "deployment_id", "last_outcome", "position", where=text(_RARE_OUTCOME)
    ),
    partial_index(
        "ix_deployment_contacts_dispositions",
        *("deployment_id", "last_disposition", "position"),
        where=text(_RARE_DISPOSITION),
    ),
    Index("ix_deployment_contacts_position", "deployment_id", "position"),
    Index("ix_deployment_contacts_number", "org_id", "phone"),
)
"""For a waiting contact, `due_at` is the time from which the retry policy allows a call, null while that has to be
decided again; `next_at` is when the dialler considers the contact, later than `due_at` if a rule defers it.
`decided_by` is the rule by which the gate decided last, at `decided_at`; null before. `priority` is 1 to 9; null for 0.
"""
