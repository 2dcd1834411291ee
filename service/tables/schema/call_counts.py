"""The tables of counted calls, from which statistics are answered without reading the calls.

`schema.accounts` says the units.
"""

from sqlalchemy import BigInteger, Column, Index, Integer, String, Table, Text

from callwright.service.tables.schema.accounts import Micros, Moment, metadata, owner

call_kinds = Table(
    "call_kinds",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    owner(),
    Column("deployment_id", String(40)),
    Column("agent_id", String(40), nullable=False),
    Column("agent_version", Integer),
    Column("audience_id", String(40)),
    Column("call_type", String(10), nullable=False),
    Column("status", String(20), nullable=False),
    Column("outcome", String(30)),
    Column("disposition", String(40)),
    Column("language", String(40)),
    Column("answered_by", String(30)),
    Column("ended_by", String(20)),
    Index("ix_call_kinds_deployment", "org_id", "deployment_id"),
    sqlite_with_rowid=False,
)
"""What calls that have ended have in common, as far as statistics filter or group by it. `id` is a hash of the rest."""

call_counts = Table(
    "call_counts",
    metadata,
    Column("org_id", String(40), primary_key=True),
    Column("span_ms", Integer, primary_key=True, autoincrement=False),
    Column("begins_at", Moment, primary_key=True, autoincrement=False),
    Column("kind_id", BigInteger, primary_key=True, autoincrement=False),
    Column("calls", Integer, nullable=False),
    Column("hang_ups", Integer, nullable=False),
    Column("duration_ms", BigInteger, nullable=False),
    Column("durations", Text, nullable=False),
    Column("charged", Integer, nullable=False),
    Column("cost_micros", Micros, nullable=False),
    Column("costs", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""The calls of a kind that were made within an hour or a day of UTC, or ever (`span_ms` and `begins_at` are 0).

`hang_ups` counts answered calls that the person ended before the agent had said goodbye, `charged` those that cost
anything. `durations` and `costs` have the values of answered calls and of charged
ones, in the form of `rules.value_counts`. A row is changed in the transaction that ends a call or changes its cost.
"""

number_hours = Table(
    "number_hours",
    metadata,
    Column("phone_number_id", String(40), primary_key=True),
    Column("hour", BigInteger, primary_key=True, autoincrement=False),
    Column("call_type", String(10), primary_key=True),
    Column("calls", Integer, nullable=False),
    sqlite_with_rowid=False,
)
"""The calls of a phone number that were made within an hour of UTC; `hour` is its number since 1970."""
