"""Which services are an organization's own on the calls of a deployment that has started."""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"


def upgrade() -> None:
    """Deployments that have started count every service that their price list has."""
    op.add_column("deployments", sa.Column("own_services", sa.String(20)))
