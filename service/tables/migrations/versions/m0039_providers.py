"""Providers of speech and language models with encrypted keys, and which of them an agent uses."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"


def upgrade() -> None:
    """Agents that were there name no provider."""
    sorted_text = sa.String(200, collation="C") if op.get_bind().dialect.name == "postgresql" else sa.String(200)
    op.create_table(
        "providers",
        sa.Column("org_id", sa.String(40), sa.ForeignKey("organizations.id"), primary_key=True),
        sa.Column("name", sorted_text, primary_key=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("roles", sa.Text(), nullable=False),
        sa.Column("url", sa.Text()),
        sa.Column("model", sa.String(200)),
        sa.Column("voice", sa.String(200)),
        sa.Column("encrypted_key", sa.Text()),
        sa.Column("key_ends_with", sa.String(4)),
        sa.Column("default_for", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by_key_id", sa.String(40)),
    )
    for name, length in (
        ("hearing_provider", 40),
        ("speaking_provider", 40),
        ("speaking_voice", 200),
        ("model_provider", 40),
        ("model_name", 200),
    ):
        op.add_column("agents", sa.Column(name, sa.String(length)))
