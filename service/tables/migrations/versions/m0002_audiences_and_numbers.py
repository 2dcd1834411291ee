"""Agents, audiences and phone numbers."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "agents",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column(
            "name",
            sa.String(length=200).with_variant(sa.String(length=200, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "voice_id",
            sa.String(length=200).with_variant(sa.String(length=200, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("language", sa.String(length=40), nullable=False),
        sa.Column("system_prompt", sa.Text(), nullable=False),
        sa.Column("welcome_message", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by_key_id", sa.String(length=40), nullable=True),
        sa.Column("metadata", sa.Text(), server_default="{}", nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id"],
            ["organizations.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_agents_created", "agents", ["org_id", "created_at", "id"], unique=False)
    op.create_index("uq_agents_name", "agents", ["org_id", "name"], unique=True)
    op.create_table(
        "audiences",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column(
            "name",
            sa.String(length=200).with_variant(sa.String(length=200, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("source", sa.String(length=10), nullable=True),
        sa.Column("phone_column", sa.String(length=100), nullable=True),
        sa.Column("default_country", sa.String(length=2), nullable=True),
        sa.Column("timezone_column", sa.String(length=100), nullable=True),
        sa.Column("external_id_column", sa.String(length=100), nullable=True),
        sa.Column("dedupe", sa.String(length=20), nullable=False),
        sa.Column("columns", sa.Text(), nullable=False),
        sa.Column("row_count", sa.BigInteger(), nullable=False),
        sa.Column("valid_count", sa.BigInteger(), nullable=False),
        sa.Column("invalid_count", sa.BigInteger(), nullable=False),
        sa.Column("duplicate_count", sa.BigInteger(), nullable=False),
        sa.Column("last_imported_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by_key_id", sa.String(length=40), nullable=True),
        sa.Column("metadata", sa.Text(), server_default="{}", nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id"],
            ["organizations.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_audiences_created", "audiences", ["org_id", "created_at", "id"], unique=False)
    op.create_index("uq_audiences_name", "audiences", ["org_id", "name"], unique=True)
    op.create_table(
        "phone_numbers",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column(
            "number",
            sa.String(length=200).with_variant(sa.String(length=200, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("country", sa.String(length=2), nullable=False),
        sa.Column("locality", sa.String(length=200), nullable=True),
        sa.Column("number_type", sa.String(length=20), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("provider", sa.String(length=40), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("monthly_micros", sa.BigInteger(), nullable=False),
        sa.Column("renews_at", sa.BigInteger(), nullable=True),
        sa.Column("auto_renew", sa.Boolean(), nullable=False),
        sa.Column("released_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by_key_id", sa.String(length=40), nullable=True),
        sa.Column("metadata", sa.Text(), server_default="{}", nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id"],
            ["organizations.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_phone_numbers_created", "phone_numbers", ["org_id", "created_at", "id"], unique=False)
    op.create_index("ix_phone_numbers_renews", "phone_numbers", ["renews_at"], unique=False)
    op.create_index(
        "uq_phone_numbers_rented",
        "phone_numbers",
        ["number"],
        unique=True,
        sqlite_where=sa.text("released_at IS NULL"),
        postgresql_where=sa.text("released_at IS NULL"),
    )
    op.create_table(
        "audience_rows",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("audience_id", sa.String(length=40), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("phone", sa.String(length=20), nullable=False),
        sa.Column("country", sa.String(length=2), nullable=True),
        sa.Column("timezone", sa.String(length=64), nullable=True),
        sa.Column("external_id", sa.String(length=1000), nullable=True),
        sa.Column("dedupe_key", sa.String(length=1000), nullable=True),
        sa.Column("cells", sa.Text(), nullable=False),
        sa.Column("steering", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["audience_id"],
            ["audiences.id"],
        ),
        sa.ForeignKeyConstraint(
            ["org_id"],
            ["organizations.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_audience_rows_phone", "audience_rows", ["audience_id", "phone"], unique=False)
    op.create_index("ix_audience_rows_position", "audience_rows", ["audience_id", "position"], unique=False)
    op.create_index("uq_audience_rows_dedupe", "audience_rows", ["audience_id", "dedupe_key"], unique=True)
    op.create_table(
        "imports",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("audience_id", sa.String(length=40), nullable=False),
        sa.Column("status", sa.String(length=30), nullable=False),
        sa.Column("status_reason", sa.Text(), nullable=True),
        sa.Column("csv", sa.Text(), nullable=True),
        sa.Column("total_rows", sa.BigInteger(), nullable=True),
        sa.Column("processed", sa.BigInteger(), nullable=False),
        sa.Column("added", sa.BigInteger(), nullable=False),
        sa.Column("invalid", sa.BigInteger(), nullable=False),
        sa.Column("duplicates", sa.BigInteger(), nullable=False),
        sa.Column("lease_owner", sa.String(length=40), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("completed_at", sa.BigInteger(), nullable=True),
        sa.Column("created_by_key_id", sa.String(length=40), nullable=True),
        sa.ForeignKeyConstraint(
            ["audience_id"],
            ["audiences.id"],
        ),
        sa.ForeignKeyConstraint(
            ["org_id"],
            ["organizations.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_imports_audience", "imports", ["audience_id"], unique=False)
    op.create_index(
        "ix_imports_open",
        "imports",
        ["created_at"],
        unique=False,
        sqlite_where=sa.text("completed_at IS NULL"),
        postgresql_where=sa.text("completed_at IS NULL"),
    )
    op.create_table(
        "import_errors",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("import_id", sa.String(length=40), nullable=False),
        sa.Column("row_number", sa.BigInteger(), nullable=False),
        sa.Column("column", sa.String(length=100), nullable=True),
        sa.Column("code", sa.String(length=40), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("value_redacted", sa.String(length=1000), nullable=True),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["imports.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_import_errors_row", "import_errors", ["import_id", "row_number"], unique=False)
