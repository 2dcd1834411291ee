"""The tables of passwords, of the links that set one, and of invitations."""

from sqlalchemy import Column, ForeignKey, Index, String, Table, UniqueConstraint

from callwright.service.tables.schema.accounts import Moment, key, metadata

passwords = Table(
    "passwords",
    metadata,
    Column("user_id", String(40), ForeignKey("users.id"), primary_key=True),
    Column("hash", String(200), nullable=False),
    Column("changed_at", Moment, nullable=False),
)
"""`hash` is Argon2id with its parameters and salt. A user without a password has no row."""

password_links = Table(
    "password_links",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Index("ix_password_links_expires", "expires_at"),
    Index("ix_password_links_user", "user_id"),
)
"""A link that was used has no row."""

invitations = Table(
    "invitations",
    metadata,
    key(),
    Column("org_id", String(40), ForeignKey("organizations.id"), nullable=False),
    Column("email", String(200), nullable=False),
    Column("role", String(20), nullable=False),
    Column("hash", String(64), nullable=False, unique=True),
    Column("invited_by_user_id", String(40), ForeignKey("users.id"), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    UniqueConstraint("org_id", "email"),
    Index("ix_invitations_expires", "expires_at"),
)
"""An invitation that was accepted or withdrawn has no row."""
