"""The tables of the dashboard's sessions, and of the links by which they begin."""

from sqlalchemy import Column, ForeignKey, Index, String, Table

from callwright.service.tables.schema.accounts import Moment, key, metadata

dashboard_sessions = Table(
    "dashboard_sessions",
    metadata,
    key(),
    Column("hash", String(64), nullable=False, unique=True),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False),
    Column("org_id", String(40), ForeignKey("organizations.id"), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("last_seen_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Index("ix_dashboard_sessions_user", "user_id"),
    Index("ix_dashboard_sessions_expires", "expires_at"),
)
"""`org_id` is the organization that the session shows. Who logs out has no row."""

login_links = Table(
    "login_links",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False),
    Column("org_id", String(40), ForeignKey("organizations.id"), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Index("ix_login_links_expires", "expires_at"),
)
"""A link that was used has no row."""
