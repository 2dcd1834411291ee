"""Subscriptions with several earlier secrets, each with its own end."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Keeps the one secret of before that each subscription may have."""
    earlier = sa.Column("earlier_secrets", sa.Text(), nullable=False, server_default="[]")
    op.add_column("webhooks", earlier)
    webhooks = sa.table(
        "webhooks",
        sa.column("id"),
        sa.column("previous_secret"),
        sa.column("previous_secret_until"),
        sa.column("earlier_secrets"),
    )
    kept = sa.select(webhooks.c.id, webhooks.c.previous_secret, webhooks.c.previous_secret_until)
    connection = op.get_bind()
    for row in connection.execute(kept.where(webhooks.c.previous_secret.is_not(None))).all():
        secrets = json.dumps([[row.previous_secret, row.previous_secret_until or 0]], ensure_ascii=False)
        connection.execute(sa.update(webhooks).where(webhooks.c.id == row.id).values(earlier_secrets=secrets))
    op.drop_column("webhooks", "previous_secret")
    op.drop_column("webhooks", "previous_secret_until")
