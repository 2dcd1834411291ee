"""Deployments count their contacts by the outcome of the last call."""

import json
from collections import defaultdict

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Counts the contacts that are there."""
    op.add_column("deployments", sa.Column("last_outcomes", sa.Text(), server_default="{}", nullable=False))
    connection = op.get_bind()
    counted = sa.text(
        "SELECT deployment_id, last_outcome, count(*) AS contacts FROM deployment_contacts "
        "WHERE last_outcome IS NOT NULL GROUP BY deployment_id, last_outcome"
    )
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for row in connection.execute(counted):
        found[row.deployment_id][row.last_outcome] = row.contacts
    store = sa.text("UPDATE deployments SET last_outcomes = :counts WHERE id = :id")
    if found:
        connection.execute(
            store, [{"id": deployment_id, "counts": json.dumps(counts)} for deployment_id, counts in found.items()]
        )
