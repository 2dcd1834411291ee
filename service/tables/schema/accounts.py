"""The tables of accounts: organizations, keys, money, and the records of what was done.

Moments are milliseconds since the epoch, money is millionths of a dollar, structured values are JSON text. Names that
are sorted use the C collation on Postgres, so that both engines give the same order.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    literal_column,
    text,
    true,
)

from callwright.service.platform.database.columns import partial_index, sorted_text

metadata = MetaData()

Moment = BigInteger
Micros = BigInteger
Sorted = sorted_text(200)


def key() -> Column[str]:
    return Column("id", String(40), primary_key=True)


def owner() -> Column[str]:
    return Column("org_id", String(40), ForeignKey("organizations.id"), nullable=False)


def stored() -> list[Column[object]]:
    return [
        Column("created_at", Moment, nullable=False),
        Column("updated_at", Moment, nullable=False),
        Column("created_by_key_id", String(40)),
        Column("metadata", Text, nullable=False, server_default="{}"),
    ]


service_state = Table(
    "service_state",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("value", Text, nullable=False),
)

organizations = Table(
    "organizations",
    metadata,
    key(),
    Column("name", Sorted, nullable=False, unique=True),
    Column("plan", String(20), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("requests_per_second", Integer),
    Column("requests_per_day", Integer),
    Column("recording_retention_days", Integer),
    Column("recordings_deleted_before", Moment, nullable=False, server_default="0"),
    Column("do_not_call_removals", BigInteger, nullable=False, server_default="0"),
    Column("reserved_inbound_concurrency", Integer),
)
"""The columns about requests and retention have negotiated limits; null means that the plan's limit applies. Recordings
of calls that ended before `recordings_deleted_before` are gone for good, whatever the plan says later.
`do_not_call_removals` counts how often numbers were removed from the do-not-call list: a start plan that was accepted
before a removal allowed fewer people. `reserved_inbound_concurrency` lines of the plan are left free for callers;
null for none.
"""

users = Table(
    "users",
    metadata,
    key(),
    Column("email", Sorted, unique=True),
    Column("name", String(200), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("deleted_at", Moment),
)

memberships = Table(
    "memberships",
    metadata,
    Column("org_id", String(40), ForeignKey("organizations.id"), primary_key=True),
    Column("user_id", String(40), ForeignKey("users.id"), primary_key=True),
    Column("role", String(20), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("left_at", Moment),
    Index("ix_memberships_user", "user_id"),
)

api_keys = Table(
    "api_keys",
    metadata,
    key(),
    owner(),
    Column("hash", String(64), nullable=False, unique=True),
    Column("identity", String(16), nullable=False),
    Column("label", String(200), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("last_used_at", Moment),
    Column("revoked_at", Moment),
    Column("kind", String(10), nullable=False, server_default="live"),
    Column("profile", String(20)),
    Column("spending_cap_micros", Micros),
    Column("created_by_user_id", String(40)),
)

past_commitments = Table(
    "past_commitments",
    metadata,
    Column("key_id", String(40), nullable=False),
    Column("deployment_id", String(40), nullable=False),
    Column("micros", Micros, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("ix_past_commitments_key", "key_id"),
)
"""What a key's deployments had spent when another key started them again."""

request_levels = Table(
    "request_levels",
    metadata,
    Column("key_id", String(40), primary_key=True),
    Column("name", String(20), primary_key=True),
    Column("level", Float, nullable=False),
    Column("at", Moment, nullable=False),
)
"""The state of each key's limits, for all processes on Postgres; on SQLite the one process keeps it in memory.
Postgres empties the table after a crash.
"""

request_days = Table(
    "request_days",
    metadata,
    Column("key_id", String(40), primary_key=True),
    Column("day", Integer, primary_key=True),
    Column("requests", BigInteger, nullable=False),
)
"""Requests of a key by day since the epoch (UTC), stored every few seconds."""

wallets = Table(
    "wallets",
    metadata,
    Column("org_id", String(40), ForeignKey("organizations.id"), primary_key=True),
    Column("balance_micros", Micros, nullable=False),
    Column("reserved_micros", Micros, nullable=False),
    Column("threshold_micros", Micros),
    Column("low", Boolean, nullable=False),
    Column("play_money", Boolean, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("status", String(10), nullable=False, server_default="active"),
)

ledger_accounts = Table(
    "ledger_accounts",
    metadata,
    Column("org_id", String(40), ForeignKey("organizations.id"), primary_key=True),
    Column("account", String(20), primary_key=True),
    Column("balance_micros", Micros, nullable=False),
)
"""What each account of the ledger holds: its credits less its debits. An organization's accounts sum to zero."""

MOVEMENTS_OF_EVERY_CALL = frozenset({"call_charge", "reservation", "reservation_release"})
"""The types of transactions that calls make: nearly all of them."""
_RARE_MOVEMENT = "type NOT IN ('call_charge', 'reservation', 'reservation_release')"
RARE_MOVEMENTS: ColumnElement[bool] = literal_column(f"transactions.{_RARE_MOVEMENT}")
"""The condition of other transactions, which have an index by type."""
_HELD_MOVEMENT = "type IN ('reservation', 'reservation_release')"
HELD_MOVEMENTS: ColumnElement[bool] = literal_column(f"transactions.{_HELD_MOVEMENT}")
"""The condition of those that move money between balance and reserved, which have an index by time: a campaign makes
one for many calls, so they are far apart among the charges.
"""

transactions = Table(
    "transactions",
    metadata,
    key(),
    owner(),
    Column("type", String(20), nullable=False),
    Column("amount_micros", Micros, nullable=False),
    Column("balance_after_micros", Micros, nullable=False),
    Column("reference_type", String(20)),
    Column("reference_id", String(40)),
    Column("description", String(200), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("debit_account", String(20), nullable=False, server_default="unknown"),
    Column("credit_account", String(20), nullable=False, server_default="unknown"),
    Index("ix_transactions_created", "org_id", "created_at", "id", "type"),
    Index("ix_transactions_reference", "reference_id"),
    partial_index("ix_transactions_rare", "org_id", "type", "created_at", "id", where=text(_RARE_MOVEMENT)),
    partial_index("ix_transactions_held", "org_id", "created_at", "id", "type", where=text(_HELD_MOVEMENT)),
    partial_index("uq_transactions_refund", "reference_id", where=text("type = 'refund'"), unique=True),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("org_id", String(40), primary_key=True),
    Column("key_id", String(40), primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("status", Integer),
    Column("body", Text),
    Column("created_at", Moment, nullable=False),
    Column("personal", Boolean, nullable=False, server_default=true()),
    Index("ix_idempotency_created", "created_at"),
    partial_index("ix_idempotency_personal", "org_id", where=text("personal")),
)
"""`personal` answers may hold something about people who are called; they are looked through when one's is deleted."""

OF_EVERY_CALL = frozenset({"call.placed", "call.received", "call.ended"})
"""The actions of every call: nearly all entries."""
_RARE = "action NOT IN ('call.placed', 'call.received', 'call.ended')"
RARE_ACTIONS: ColumnElement[bool] = literal_column(f"audit_log.{_RARE}")
"""The condition of other entries, which have an index by action."""
OF_OTHERS: ColumnElement[bool] = literal_column("audit_log.actor <> 'platform'")
"""The condition of entries of people and their keys, which have an index by actor."""

audit_log = Table(
    "audit_log",
    metadata,
    key(),
    owner(),
    Column("at", Moment, nullable=False),
    Column("actor", String(60), nullable=False),
    Column("action", String(60), nullable=False),
    Column("subject", String(60), nullable=False),
    Column("request_id", String(40)),
    Column("changes", Text, nullable=False),
    Column("tool", String(64)),
    Column("user_id", String(40)),
    Index("ix_audit_log_at", "org_id", "at"),
    Index("ix_audit_log_subject", "subject", "at"),
    partial_index("ix_audit_log_rare", "org_id", "action", "at", "id", where=text(_RARE)),
    partial_index("ix_audit_log_actor", "org_id", "actor", "at", "id", where=text("actor <> 'platform'")),
    partial_index("ix_audit_log_tool", "org_id", "tool", "at", "id", where=text("tool IS NOT NULL")),
)
"""`actor` is the id of a key or the name of a part of the system, `user_id` the person behind a personal key."""
