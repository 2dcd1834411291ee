"""People of an audience are told apart by the line that their number reaches, not by its notation."""

from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Argentine mobile numbers lose their 9 in what tells people apart. Whoever is there twice already stays so."""
    op.execute(
        """
        UPDATE audience_rows SET dedupe_key = '+54' || substr(dedupe_key, 5)
        WHERE dedupe_key LIKE '+549%' AND dedupe_key = phone AND NOT EXISTS (
            SELECT 1 FROM audience_rows AS other
            WHERE other.audience_id = audience_rows.audience_id
            AND other.dedupe_key = '+54' || substr(audience_rows.dedupe_key, 5)
        )
        """
    )
