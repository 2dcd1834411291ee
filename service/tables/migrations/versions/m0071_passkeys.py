"""Passkeys, the challenges that they answer, and people as a company's login service knows them."""

import sqlalchemy as sa
from alembic import op

revision = "0071"
down_revision = "0070"


def upgrade() -> None:
    """Nobody has a passkey or came from a company yet."""
    op.create_table(
        "passkeys",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id"), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("credential_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("credential_id", sa.LargeBinary(), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger()),
    )
    op.create_index("ix_passkeys_user", "passkeys", ["user_id"])
    op.create_table(
        "passkey_challenges",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id")),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
    )
    op.create_index("ix_passkey_challenges_expires", "passkey_challenges", ["expires_at"])
    op.create_table(
        "company_identities",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id"), nullable=False),
        sa.Column("issuer", sa.String(500), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.UniqueConstraint("issuer", "subject", name="uq_company_identities_subject"),
    )
    op.create_index("ix_company_identities_user", "company_identities", ["user_id"])
