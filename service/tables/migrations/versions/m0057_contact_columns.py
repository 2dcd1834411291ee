"""What a list says of how each person is called: priority, not before, language."""

import sqlalchemy as sa
from alembic import op

revision = "0057"
down_revision = "0056"


def upgrade() -> None:
    """No list has said so before."""
    for name in ("priority_column", "not_before_column", "language_column"):
        op.add_column("audiences", sa.Column(name, sa.String(100)))
    op.add_column("audience_rows", sa.Column("priority", sa.Integer()))
    op.add_column("audience_rows", sa.Column("not_before", sa.BigInteger()))
    op.add_column("audience_rows", sa.Column("language", sa.String(35)))
    op.add_column("deployment_contacts", sa.Column("priority", sa.Integer()))
    for name, table, columns, where in (
        ("ix_audience_rows_priority", "audience_rows", _in_order("priority"), "priority IS NOT NULL"),
        ("ix_audience_rows_later", "audience_rows", _in_order("not_before"), "not_before IS NOT NULL"),
        (
            "ix_deployment_contacts_priority",
            "deployment_contacts",
            ("deployment_id", "priority", "next_at", "position"),
            "status IN ('pending', 'retry_waiting') AND priority IS NOT NULL",
        ),
    ):
        op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _in_order(name: str) -> tuple[str, ...]:
    return "audience_id", name, "position"
