"""The tables of calls that come in. `schema.accounts` says the units."""

from sqlalchemy import Boolean, Column, Index, Integer, String, Table, Text

from callwright.service.tables.schema.accounts import Moment, key, metadata, owner

routing_requests = Table(
    "routing_requests",
    metadata,
    key(),
    owner(),
    Column("phone_number_id", String(40), nullable=False),
    Column("call_id", String(40)),
    Column("simulated", Boolean, nullable=False),
    Column("is_test", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("request", Text, nullable=False),
    Column("outcome", String(30), nullable=False),
    Column("status_code", Integer),
    Column("answer", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("latency_ms", Integer, nullable=False),
    Column("action", String(20)),
    Column("decision", Text),
    Index("ix_routing_requests", "phone_number_id", "created_at", "id"),
    Index("ix_routing_requests_age", "created_at"),
    Index("ix_routing_requests_call", "call_id"),
)
"""Each question to a routing webhook, and what came of it. `call_id` is null for a test. `action` is what the answer
asked for; null where it could not be used, and `detail` says why.
`decision` is what the caller got, in words."""

browser_callers = Table(
    "browser_callers",
    metadata,
    key(),
    owner(),
    Column("phone_number_id", String(40), nullable=False),
    Column("from_number", String(20), nullable=False),
    Column("token_hash", String(64), nullable=False),
    Column("expires_at", Moment, nullable=False),
    Index("ix_browser_callers", "expires_at"),
)
"""Links by which somebody may call a number from a browser, once. `id` becomes the id of the call; `from_number` is
empty if the caller shows none. Of the token there is only the hash."""

simulated_callers = Table(
    "simulated_callers",
    metadata,
    key(),
    owner(),
    Column("deployment_id", String(40), nullable=False),
    Column("at_ms", Moment, nullable=False),
    Column("from_number", String(20), nullable=False),
    Column("steering", Text, nullable=False),
    Index("ix_simulated_callers", "deployment_id", "at_ms", "id"),
)
"""Callers of the simulated network who are still to call. `id` becomes the id of the call; `at_ms` is by the clock of
the service. `from_number` is empty if it is withheld."""
