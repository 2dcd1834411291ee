"""From when a contact may be called, beside the moment at which it is looked at again."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Contacts not called yet are due since the start; those that wait for a retry are decided anew."""
    op.add_column("deployment_contacts", sa.Column("due_at", sa.BigInteger()))
    op.execute(
        "UPDATE deployment_contacts SET due_at = "
        "(SELECT started_at FROM deployments WHERE deployments.id = deployment_contacts.deployment_id) "
        "WHERE status = 'pending'"
    )
