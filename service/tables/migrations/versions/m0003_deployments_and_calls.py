"""Deployments, contacts, calls."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "simulated_dials",
        sa.Column("call_id", sa.String(length=40), nullable=False),
        sa.Column("deployment_id", sa.String(length=40), nullable=False),
        sa.Column("contact_id", sa.String(length=40), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("dialled_at", sa.BigInteger(), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("call_id"),
    )
    op.create_index("ix_simulated_dials_contact", "simulated_dials", ["deployment_id", "contact_id"], unique=False)
    op.create_table(
        "calls",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("call_type", sa.String(length=10), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("deployment_id", sa.String(length=40), nullable=True),
        sa.Column("agent_id", sa.String(length=40), nullable=False),
        sa.Column("audience_id", sa.String(length=40), nullable=True),
        sa.Column("contact_id", sa.String(length=40), nullable=True),
        sa.Column("phone_number_id", sa.String(length=40), nullable=True),
        sa.Column("attempt_number", sa.Integer(), nullable=False),
        sa.Column("from_number", sa.String(length=20), nullable=False),
        sa.Column("to_number", sa.String(length=20), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("outcome", sa.String(length=30), nullable=True),
        sa.Column("disposition", sa.String(length=40), nullable=True),
        sa.Column("callback_at", sa.BigInteger(), nullable=True),
        sa.Column("answered_by", sa.String(length=30), nullable=True),
        sa.Column("ended_by", sa.String(length=20), nullable=True),
        sa.Column("hangup_cause", sa.String(length=40), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("ringing_at", sa.BigInteger(), nullable=True),
        sa.Column("answered_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("duration_ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("billed_seconds", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cost_micros", sa.BigInteger(), nullable=True),
        sa.Column("reserved_micros", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("turn_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("language", sa.String(length=40), nullable=True),
        sa.Column("voice_id", sa.String(length=200), nullable=True),
        sa.Column("unanswered_questions", sa.Text(), server_default="[]", nullable=False),
        sa.Column("variables", sa.Text(), server_default="{}", nullable=False),
        sa.Column("warnings", sa.Text(), server_default="[]", nullable=False),
        sa.Column("hang_up_requested_at", sa.BigInteger(), nullable=True),
        sa.Column("driver", sa.String(length=40), nullable=True),
        sa.ForeignKeyConstraint(
            ["org_id"],
            ["organizations.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_calls_created", "calls", ["org_id", "created_at", "id"], unique=False)
    op.create_index("ix_calls_deployment", "calls", ["deployment_id", "created_at", "id"], unique=False)
    op.create_index("uq_calls_attempt", "calls", ["deployment_id", "contact_id", "attempt_number"], unique=True)
    op.create_index(
        "uq_calls_in_flight",
        "calls",
        ["org_id", "to_number"],
        unique=True,
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_table(
        "deployments",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column(
            "name",
            sa.String(length=200).with_variant(sa.String(length=200, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("status_reason", sa.String(length=40), nullable=True),
        sa.Column("status_changed_at", sa.BigInteger(), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("seed", sa.String(length=200), nullable=False),
        sa.Column("agent_id", sa.String(length=40), nullable=False),
        sa.Column("agent_snapshot", sa.Text(), nullable=True),
        sa.Column("audience_id", sa.String(length=40), nullable=False),
        sa.Column("phone_number_ids", sa.Text(), nullable=False),
        sa.Column("caller_id_strategy", sa.String(length=20), nullable=False),
        sa.Column("start_at", sa.BigInteger(), nullable=True),
        sa.Column("end_at", sa.BigInteger(), nullable=True),
        sa.Column("calling_hours", sa.Text(), nullable=True),
        sa.Column("max_concurrency", sa.Integer(), nullable=False),
        sa.Column("calls_per_second", sa.Float(), nullable=False),
        sa.Column("retry_policy", sa.Text(), nullable=False),
        sa.Column("voicemail", sa.Text(), nullable=False),
        sa.Column("ring_timeout_seconds", sa.Integer(), nullable=False),
        sa.Column("max_call_duration_seconds", sa.Integer(), nullable=False),
        sa.Column("budget_cap_micros", sa.BigInteger(), nullable=True),
        sa.Column("compliance", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("completed_at", sa.BigInteger(), nullable=True),
        sa.Column("contacts", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("in_flight", sa.Integer(), server_default="0", nullable=False),
        sa.Column("attempts", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("answered", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("voicemails", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("spend_micros", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("reserved_micros", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("outcomes", sa.Text(), server_default="{}", nullable=False),
        sa.Column("dispositions", sa.Text(), server_default="{}", nullable=False),
        sa.Column("states", sa.Text(), server_default="{}", nullable=False),
        sa.Column("clock_ms", sa.BigInteger(), nullable=True),
        sa.Column("last_dial_ms", sa.BigInteger(), nullable=True),
        sa.Column("lines", sa.Text(), server_default="[]", nullable=False),
        sa.Column("number_turn", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("lease_owner", sa.String(length=40), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
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
    op.create_index("ix_deployments_agent", "deployments", ["agent_id"], unique=False)
    op.create_index("ix_deployments_audience", "deployments", ["audience_id"], unique=False)
    op.create_index("ix_deployments_created", "deployments", ["org_id", "created_at", "id"], unique=False)
    op.create_index("ix_deployments_live", "deployments", ["status", "lease_until"], unique=False)
    op.create_index("uq_deployments_name", "deployments", ["org_id", "name"], unique=True)
    op.create_table(
        "deployment_contacts",
        sa.Column("deployment_id", sa.String(length=40), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("phone", sa.String(length=20), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.BigInteger(), nullable=True),
        sa.Column("attempt_times", sa.Text(), nullable=False),
        sa.Column("caller_number_id", sa.String(length=40), nullable=True),
        sa.Column("last_outcome", sa.String(length=30), nullable=True),
        sa.Column("last_disposition", sa.String(length=40), nullable=True),
        sa.Column("last_call_id", sa.String(length=40), nullable=True),
        sa.ForeignKeyConstraint(
            ["deployment_id"],
            ["deployments.id"],
        ),
        sa.PrimaryKeyConstraint("deployment_id", "id"),
    )
    op.create_index(
        "ix_deployment_contacts_due",
        "deployment_contacts",
        ["deployment_id", "next_at", "position"],
        unique=False,
        sqlite_where=sa.text("status IN ('pending', 'retry_waiting')"),
        postgresql_where=sa.text("status IN ('pending', 'retry_waiting')"),
    )
    op.create_index(
        "ix_deployment_contacts_position", "deployment_contacts", ["deployment_id", "position"], unique=False
    )
    op.create_table(
        "deployment_numbers",
        sa.Column("deployment_id", sa.String(length=40), nullable=False),
        sa.Column("phone_number_id", sa.String(length=40), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["deployment_id"],
            ["deployments.id"],
        ),
        sa.ForeignKeyConstraint(
            ["phone_number_id"],
            ["phone_numbers.id"],
        ),
        sa.PrimaryKeyConstraint("deployment_id", "phone_number_id"),
    )
    op.create_index("ix_deployment_numbers_number", "deployment_numbers", ["phone_number_id"], unique=False)
    op.create_table(
        "transcripts",
        sa.Column("call_id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("turns", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["call_id"],
            ["calls.id"],
        ),
        sa.PrimaryKeyConstraint("call_id"),
    )
