"""The table of questions that a person answers on a page."""

from sqlalchemy import Column, ForeignKey, Index, Integer, String, Table, Text

from callwright.service.tables.schema.accounts import Micros, Moment, key, metadata, owner

confirmations = Table(
    "confirmations",
    metadata,
    key(),
    owner(),
    Column("asked_by", String(40), nullable=False),
    Column("tool", String(60), nullable=False),
    Column("about", String(64), nullable=False),
    Column("mark", String(8), nullable=False),
    Column("question", Text, nullable=False),
    Column("deployment_id", String(40)),
    Column("people", Integer),
    Column("cost_micros", Micros),
    Column("status", String(10), nullable=False),
    Column("asked_at", Moment, nullable=False),
    Column("ends_at", Moment, nullable=False),
    Column("answered_at", Moment),
    Column("answered_by_user_id", String(40), ForeignKey("users.id")),
    Column("taken_at", Moment),
    Index("ix_confirmations_asked", "org_id", "asked_by", "asked_at"),
    Index("ix_confirmations_open", "org_id", "ends_at"),
    Index("ix_confirmations_asked_at", "asked_at"),
)
"""`status` is waiting, yes, no or withdrawn. An answer with `taken_at` was given to the tool and counts no longer."""
