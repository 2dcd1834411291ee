"""The settings of a campaign in one column. Those that kept each of them stay until a later migration."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

_AS_TEXT = ("caller_id_strategy", "calls_per_second", "ring_timeout_seconds", "max_call_duration_seconds")
_AS_JSON = ("calling_hours", "retry_policy", "voicemail", "compliance")
_PAGE = 1_000


def upgrade() -> None:
    """Each campaign keeps the settings it has."""
    op.add_column("deployments", sa.Column("settings", sa.Text()))
    connection = op.get_bind()
    names = ", ".join((*_AS_TEXT, *_AS_JSON))
    page = sa.text(
        f"SELECT id, {names} FROM deployments WHERE call_type = 'outbound' AND id > :after ORDER BY id LIMIT {_PAGE}"
    )
    put = sa.text("UPDATE deployments SET settings = :settings WHERE id = :id")
    after = ""
    while rows := connection.execute(page, {"after": after}).mappings().all():
        connection.execute(put, [{"id": row["id"], "settings": json.dumps(_settings(row))} for row in rows])
        after = rows[-1]["id"]


def _settings(row: Any) -> dict[str, Any]:
    plain = {name: row[name] for name in _AS_TEXT}
    return plain | {name: None if row[name] is None else json.loads(row[name]) for name in _AS_JSON}
