"""The tables of compliance: how the gate decided, the rules files that were loaded, and calls that go on counting."""

from sqlalchemy import Boolean, Column, Index, String, Table, Text

from callwright.service.tables.schema.accounts import Moment, key, metadata, owner

contact_decisions = Table(
    "contact_decisions",
    metadata,
    key(),
    Column("deployment_id", String(40), nullable=False),
    Column("contact_id", String(40), nullable=False),
    Column("decided_at", Moment, nullable=False),
    Column("decision", String(10), nullable=False),
    Column("rule", String(80), nullable=False),
    Column("until", Moment),
    Column("rules_version", String(40), nullable=False),
    Index("ix_contact_decisions_contact", "deployment_id", "contact_id", "id"),
    Index("ix_contact_decisions_decided", "deployment_id", "decided_at", "id"),
)
"""How the gate decided about contacts, other than by allowing a call: one row whenever the deciding rule changes."""

rules_files = Table(
    "rules_files",
    metadata,
    Column("version", String(40), primary_key=True),
    Column("text", Text, nullable=False),
    Column("loaded_at", Moment, nullable=False),
)
"""The rules files that operators have loaded, beside the one that is shipped."""

forgotten_calls = Table(
    "forgotten_calls",
    metadata,
    Column("call_id", String(40), primary_key=True),
    owner(),
    Column("line", String(32), nullable=False),
    Column("dialled_at", Moment, nullable=False),
    Column("outcome", String(30)),
    Column("simulated", Boolean, nullable=False),
    Index("ix_forgotten_calls_line", "org_id", "line", "dialled_at"),
    Index("ix_forgotten_calls_dialled", "org_id", "dialled_at"),
)
"""`line` is a keyed hash: the number was deleted with its person."""

declined_lines = Table(
    "declined_lines",
    metadata,
    Column("audience_id", String(40), primary_key=True),
    Column("line", String(32), primary_key=True),
    Column("said", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""Noes of rows that were left out, by the number that no row had: `line` is its keyed hash, `said` cells by column."""
