"""Versions of agents: what each said from one change to the next, and which version spoke on a call."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"

_KEPT = (
    *("system_prompt", "welcome_message", "language", "voice_id"),
    *("hearing_provider", "speaking_provider", "speaking_voice", "model_provider", "model_name"),
)
_AT_ONCE = 500


def upgrade() -> None:
    """What an agent says now is its first version. Campaigns that go on have it too, unless the agent was changed after
    they began; calls before have none.
    """
    op.create_table(
        "agent_versions",
        sa.Column("agent_id", sa.String(40), sa.ForeignKey("agents.id"), primary_key=True),
        sa.Column("version", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("fields", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.String(60)),
        sa.Column("user_id", sa.String(40)),
        sa.Column("restored_from", sa.Integer()),
    )
    op.add_column("agents", sa.Column("version", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("calls", sa.Column("agent_version", sa.Integer()))
    there = sa.text("agent_version IS NOT NULL")
    columns = ["agent_id", "agent_version", "created_at", "id"]
    op.create_index("ix_calls_version", "calls", columns, sqlite_where=there, postgresql_where=there)
    _keep_agents()
    _name_versions()


def _table(name: str, *columns: str) -> sa.TableClause:
    found: list[sa.ColumnClause[Any]] = [sa.column(column) for column in columns]
    return sa.table(name, *found)


def _keep_agents() -> None:
    """Who made it is known of agents that were never changed."""
    connection = op.get_bind()
    names = ("id", "org_id", "created_at", "updated_at", "created_by_key_id", *_KEPT)
    agents = _table("agents", *names)
    versions = _table("agent_versions", "agent_id", "version", "org_id", "fields", "created_at", "actor")
    after = ""
    while True:
        rows = connection.execute(
            sa.select(agents).where(agents.c.id > after).order_by(agents.c.id).limit(_AT_ONCE)
        ).all()
        if not rows:
            return
        connection.execute(sa.insert(versions), [_first(row) for row in rows])
        after = rows[-1].id


def _first(row: Any) -> dict[str, Any]:
    return {
        "agent_id": row.id,
        "version": 1,
        "org_id": row.org_id,
        "fields": json.dumps({name: getattr(row, name) for name in _KEPT}, ensure_ascii=False),
        "created_at": row.updated_at,
        "actor": row.created_by_key_id if row.created_at == row.updated_at else None,
    }


def _name_versions() -> None:
    connection = op.get_bind()
    agents = _table("agents", "id", "updated_at")
    deployments = _table("deployments", "id", "status", "agent_id", "agent_snapshot")
    own = deployments.c
    going = connection.execute(
        sa.select(own.id, own.agent_snapshot, agents.c.updated_at)
        .join_from(deployments, agents, agents.c.id == own.agent_id)
        .where(own.status.in_(("scheduled", "active", "paused")), own.agent_snapshot.is_not(None))
    ).all()
    for row in going:
        kept = json.loads(row.agent_snapshot)
        if kept["agent_updated_at"] == row.updated_at:
            snapshot = json.dumps({**kept, "version": 1}, ensure_ascii=False, separators=(",", ":"))
            connection.execute(sa.update(deployments).where(own.id == row.id).values(agent_snapshot=snapshot))
