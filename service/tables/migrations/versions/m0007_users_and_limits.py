"""Users and their memberships, negotiated limits, counted requests, and what inbound deployments need."""

import secrets
import time

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

OPERATOR = "operator@localhost"
"""Who made the organizations and keys that are there already: whoever runs this installation."""


def upgrade() -> None:
    """Adds tables and columns. Every organization gets the operator as its owner, and every key as its creator."""
    op.create_table(
        "users",
        sa.Column("id", sa.String(length=40), primary_key=True),
        sa.Column("email", sa.String(length=200).with_variant(sa.String(200, collation="C"), "postgresql")),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger()),
        sa.UniqueConstraint("email"),
    )
    op.create_table(
        "memberships",
        sa.Column("org_id", sa.String(length=40), sa.ForeignKey("organizations.id"), primary_key=True),
        sa.Column("user_id", sa.String(length=40), sa.ForeignKey("users.id"), primary_key=True),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("left_at", sa.BigInteger()),
    )
    op.create_index("ix_memberships_user", "memberships", ["user_id"])
    on_postgres = op.get_bind().dialect.name == "postgresql"
    op.create_table(
        "request_levels",
        sa.Column("key_id", sa.String(length=40), primary_key=True),
        sa.Column("name", sa.String(length=20), primary_key=True),
        sa.Column("level", sa.Float(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        prefixes=["UNLOGGED"] if on_postgres else [],
    )
    op.create_table(
        "request_days",
        sa.Column("key_id", sa.String(length=40), primary_key=True),
        sa.Column("day", sa.Integer(), primary_key=True),
        sa.Column("requests", sa.BigInteger(), nullable=False),
    )
    for name, kind in (
        ("requests_per_second", sa.Integer()),
        ("requests_per_day", sa.Integer()),
        ("recording_retention_days", sa.Integer()),
    ):
        op.add_column("organizations", sa.Column(name, kind, nullable=True))
    deleted = sa.Column("recordings_deleted_before", sa.BigInteger(), nullable=False, server_default="0")
    op.add_column("organizations", deleted)
    op.add_column("api_keys", sa.Column("created_by_user_id", sa.String(length=40), nullable=True))
    op.create_index("ix_audit_log_subject", "audit_log", ["org_id", "subject", "at"])
    op.add_column("phone_numbers", sa.Column("inbound_deployment_id", sa.String(length=40), nullable=True))
    op.add_column(
        "deployments", sa.Column("call_type", sa.String(length=10), nullable=False, server_default="outbound")
    )
    op.add_column("deployments", sa.Column("inbound", sa.Text(), nullable=True))
    _name_the_operator()


def _name_the_operator() -> None:
    connection, user_id, now_ms = op.get_bind(), f"usr_{secrets.token_hex(12)}", time.time_ns() // 1_000_000
    if connection.execute(sa.text("SELECT count(*) FROM organizations")).scalar_one() == 0:
        return
    connection.execute(
        sa.text("INSERT INTO users (id, email, name, created_at) VALUES (:id, :email, 'Operator', :now)"),
        {"id": user_id, "email": OPERATOR, "now": now_ms},
    )
    joins = (
        "INSERT INTO memberships (org_id, user_id, role, created_at) SELECT id, :id, 'owner', :now FROM organizations"
    )
    connection.execute(sa.text(joins), {"id": user_id, "now": now_ms})
    connection.execute(sa.text("UPDATE api_keys SET created_by_user_id = :id"), {"id": user_id})
