"""The tables of passkeys, of the challenges that they answer, and of people as a company's login service knows them."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, LargeBinary, String, Table, UniqueConstraint

from callwright.service.tables.schema.accounts import Moment, key, metadata

passkeys = Table(
    "passkeys",
    metadata,
    key(),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False),
    Column("name", String(100), nullable=False),
    Column("credential_hash", String(64), nullable=False, unique=True),
    Column("credential_id", LargeBinary, nullable=False),
    Column("public_key", LargeBinary, nullable=False),
    Column("sign_count", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("last_used_at", Moment),
    Index("ix_passkeys_user", "user_id"),
)
"""`credential_hash` is the SHA-256 of `credential_id`, which may have 1,023 bytes. A removed passkey has no row."""

passkey_challenges = Table(
    "passkey_challenges",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("user_id", String(40), ForeignKey("users.id")),
    Column("expires_at", Moment, nullable=False),
    Index("ix_passkey_challenges_expires", "expires_at"),
)
"""`user_id` is who adds a passkey; none for a login. A challenge that was answered has no row."""

company_identities = Table(
    "company_identities",
    metadata,
    key(),
    Column("user_id", String(40), ForeignKey("users.id"), nullable=False),
    Column("issuer", String(500), nullable=False),
    Column("subject", String(255), nullable=False),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint("issuer", "subject", name="uq_company_identities_subject"),
    Index("ix_company_identities_user", "user_id"),
)
"""It stays when its user is deleted, so that the same person does not get in again."""
