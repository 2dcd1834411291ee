"""What is kept about a person is found by their number, to be given out or deleted."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    """Stored answers that are there already count as personal; they are deleted within a day."""
    op.create_index("ix_audience_rows_number", "audience_rows", ["org_id", "phone"])
    op.create_index("ix_imports_org", "imports", ["org_id", "audience_id"])
    _partial("ix_import_errors_external", "import_errors", ["import_id", "external_id"], "external_id IS NOT NULL")
    op.create_index("ix_deployment_contacts_number", "deployment_contacts", ["org_id", "phone"])
    _partial("ix_calls_caller", "calls", ["org_id", "from_number"], "call_type = 'inbound'")
    op.add_column("idempotency_keys", sa.Column("personal", sa.Boolean(), nullable=False, server_default=sa.true()))
    _partial("ix_idempotency_personal", "idempotency_keys", ["org_id"], "personal")


def _partial(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)
