"""The tables of agents and of their versions. `schema.accounts` says the units."""

from sqlalchemy import Column, ForeignKey, Index, Integer, String, Table, Text, text

from callwright.service.tables.schema.accounts import Moment, Sorted, key, metadata, owner, stored

agents = Table(
    "agents",
    metadata,
    key(),
    owner(),
    Column("name", Sorted, nullable=False),
    Column("voice_id", Sorted, nullable=False),
    Column("language", String(40), nullable=False),
    Column("system_prompt", Text, nullable=False),
    Column("welcome_message", Text, nullable=False),
    *stored(),
    Column("hearing_provider", String(40)),
    Column("speaking_provider", String(40)),
    Column("speaking_voice", String(200)),
    Column("model_provider", String(40)),
    Column("model_name", String(200)),
    Column("version", Integer, nullable=False, server_default="1"),
    Column("call_tools", Text),
    Column("call_tool_secrets", Text),
    Index("uq_agents_name", "org_id", "name", unique=True),
    Index("ix_agents_created", "org_id", "created_at", "id"),
    Index("ix_agents_second", "org_id", text("(created_at / 1000) DESC"), "name", "id"),
)
"""Five columns name providers of the organization, which have no id; null leaves it to the defaults. `call_tools` is a
JSON list, null for none; `call_tool_secrets` are the encrypted values of their headers (`rules.call_tool_secrets`)."""

agent_versions = Table(
    "agent_versions",
    metadata,
    Column("agent_id", String(40), ForeignKey("agents.id"), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("org_id", String(40), nullable=False),
    Column("fields", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("actor", String(60)),
    Column("user_id", String(40)),
    Column("restored_from", Integer),
)
"""What each agent said in each version: the columns that a deployment keeps too, as JSON."""
