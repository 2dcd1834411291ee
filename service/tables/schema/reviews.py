"""The table of compliance reviews. `schema.accounts` says the units."""

from sqlalchemy import Boolean, Column, Index, String, Table, Text, text

from callwright.service.platform.database.columns import partial_index
from callwright.service.tables.schema.accounts import Moment, key, metadata, owner

compliance_reviews = Table(
    "compliance_reviews",
    metadata,
    key(),
    owner(),
    Column("category", String(40), nullable=False),
    Column("severity", String(10), nullable=False),
    Column("status", String(20), nullable=False),
    Column("subject_type", String(20), nullable=False),
    Column("subject_id", String(40), nullable=False),
    Column("message", Text, nullable=False),
    Column("facts", Text, nullable=False, server_default="{}"),
    Column("blocking", Boolean, nullable=False),
    Column("simulated", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("due_at", Moment, nullable=False),
    Column("decided_at", Moment),
    Column("decided_by", String(60)),
    Column("decision_note", Text),
    Index("ix_compliance_reviews_created", "org_id", "created_at", "id"),
    Index("ix_compliance_reviews_subject", "subject_id", "category", "created_at"),
    partial_index(
        "uq_compliance_reviews_undecided",
        "subject_id",
        "category",
        where=text("decided_at IS NULL"),
        unique=True,
    ),
    partial_index("ix_compliance_reviews_waiting", "org_id", where=text("decided_at IS NULL")),
    partial_index("ix_compliance_reviews_due", "due_at", where=text("status = 'open'")),
)
"""At most one review of a category waits for a decision on a subject; an expired one still waits."""
