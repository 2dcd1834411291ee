"""The tables of campaigns: audiences, numbers, deployments, calls. `schema.accounts` says the units."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    false,
    literal_column,
    text,
)

from callwright.service.platform.database.columns import partial_index
from callwright.service.tables.schema.accounts import Micros, Moment, Sorted, key, metadata, owner, stored
from callwright.service.tables.schema.packed import EVIDENCE

audiences = Table(
    "audiences",
    metadata,
    key(),
    owner(),
    Column("name", Sorted, nullable=False),
    Column("description", Text, nullable=False),
    Column("status", String(20), nullable=False),
    Column("source", String(10)),
    Column("phone_column", String(100)),
    Column("default_country", String(2)),
    Column("timezone_column", String(100)),
    Column("external_id_column", String(100)),
    Column("dedupe", String(20), nullable=False),
    Column("columns", Text, nullable=False),
    Column("row_count", BigInteger, nullable=False),
    Column("valid_count", BigInteger, nullable=False),
    Column("invalid_count", BigInteger, nullable=False),
    Column("duplicate_count", BigInteger, nullable=False),
    Column("last_imported_at", Moment),
    *stored(),
    Column("countries", Text, nullable=False, server_default="{}"),
    Column("deleted_at", Moment),
    Column("priority_column", String(100)),
    Column("not_before_column", String(100)),
    Column("language_column", String(100)),
    # How many rows are known to hold no clear no: below `row_count` where one does, or an older version added rows.
    Column("rows_without_noes", BigInteger, nullable=False, server_default="0"),
    partial_index("ix_audiences_deleted", "deleted_at", where=text("deleted_at IS NOT NULL")),
    Index("uq_audiences_name", "org_id", "name", unique=True),
    Index("ix_audiences_created", "org_id", "created_at", "id"),
    Index("ix_audiences_second", "org_id", text("(created_at / 1000) DESC"), "name", "id"),
)

_OWN_ID = "{0}external_id <> coalesce({0}dedupe_key, '')"
_AUDIENCE_END = "substr({0}audience_id, 23)"

audience_rows = Table(
    "audience_rows",
    metadata,
    key(),
    owner(),
    Column("audience_id", String(40), ForeignKey("audiences.id"), nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("phone", String(20), nullable=False),
    Column("country", String(2)),
    Column("timezone", String(64)),
    Column("external_id", String(1000)),
    Column("name_words", Text),
    Column("dedupe_key", String(1000)),
    Column("cells", Text, nullable=False),
    Column("steering", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("declined", Text),
    Column("priority", Integer),
    Column("not_before", Moment),
    Column("language", String(35)),
    partial_index(
        "ix_audience_rows_priority", "audience_id", "priority", "position", where=text("priority IS NOT NULL")
    ),
    partial_index(
        "ix_audience_rows_later", "audience_id", "not_before", "position", where=text("not_before IS NOT NULL")
    ),
    Index("uq_audience_rows_dedupe", "audience_id", "dedupe_key", unique=True),
    Index("ix_audience_rows_position", "audience_id", "position"),
    Index("ix_audience_rows_phone", "audience_id", "phone"),
    Index("ix_audience_rows_number", "org_id", "phone"),
    partial_index(
        "ix_audience_rows_own_id",
        *("external_id", text(_AUDIENCE_END.format(""))),
        where=text(_OWN_ID.format("")),
    ),
)

OTHER_OWN_ID: ColumnElement[bool] = literal_column(_OWN_ID.format("audience_rows."))
"""A row whose own id is not what its audience tells people apart by. These have an index by it."""

AUDIENCE_END: ColumnElement[str] = literal_column(_AUDIENCE_END.format("audience_rows."), String)
"""The random characters at the end of an audience's id, which are shorter than the id in an index."""

phone_numbers = Table(
    "phone_numbers",
    metadata,
    key(),
    owner(),
    Column("number", Sorted, nullable=False),
    Column("country", String(2), nullable=False),
    Column("locality", String(200)),
    Column("number_type", String(20), nullable=False),
    Column("status", String(20), nullable=False),
    Column("label", String(200), nullable=False),
    Column("provider", String(40), nullable=False),
    Column("simulated", Boolean, nullable=False),
    Column("monthly_micros", Micros, nullable=False),
    Column("renews_at", Moment),
    Column("auto_renew", Boolean, nullable=False),
    Column("released_at", Moment),
    *stored(),
    Column("inbound_deployment_id", String(40)),
    Column("renewed_by_key_id", String(40)),
    Column("max_calls_per_day", Integer),
    Column("settings_changes", BigInteger, nullable=False, server_default="0"),
    Column("billing_status", String(10), nullable=False, server_default="current"),
    Column("past_due_since", Moment),
    Column("renewal_retry_at", Moment),
    Column("routing_url", Text),
    Column("routing_secret", Text),
    Column("routing_enabled", Boolean, nullable=False, server_default=false()),
    Column("routing_fallback", Text),
    Column("routing_failures", Integer, nullable=False, server_default="0"),
    Column("routing_failing_since", Moment),
    partial_index("uq_phone_numbers_rented", "number", where=text("released_at IS NULL"), unique=True),
    Index("ix_phone_numbers_created", "org_id", "created_at", "id"),
    Index("ix_phone_numbers_second", "org_id", text("(created_at / 1000) DESC"), "number", "id"),
    Index("ix_phone_numbers_renewal", text("coalesce(renewal_retry_at, renews_at)")),
)

deployments = Table(
    "deployments",
    metadata,
    key(),
    owner(),
    Column("name", Sorted, nullable=False),
    Column("status", String(20), nullable=False),
    Column("status_reason", String(40)),
    Column("status_changed_at", Moment, nullable=False),
    Column("simulated", Boolean, nullable=False),
    Column("seed", String(200), nullable=False),
    Column("agent_id", String(40), nullable=False),
    Column("agent_snapshot", Text),
    Column("audience_id", String(40), nullable=False),
    Column("phone_number_ids", Text, nullable=False),
    Column("caller_id_strategy", String(20), nullable=False),
    Column("start_at", Moment),
    Column("end_at", Moment),
    Column("calling_hours", Text),
    Column("max_concurrency", Integer, nullable=False),
    Column("calls_per_second", Float, nullable=False),
    Column("retry_policy", Text, nullable=False),
    Column("voicemail", Text, nullable=False),
    Column("ring_timeout_seconds", Integer, nullable=False),
    Column("max_call_duration_seconds", Integer, nullable=False),
    Column("budget_cap_micros", Micros),
    Column("compliance", Text, nullable=False),
    Column("started_at", Moment),
    Column("completed_at", Moment),
    Column("contacts", BigInteger, nullable=False, server_default="0"),
    Column("in_flight", Integer, nullable=False, server_default="0"),
    Column("attempts", BigInteger, nullable=False, server_default="0"),
    Column("answered", BigInteger, nullable=False, server_default="0"),
    Column("voicemails", BigInteger, nullable=False, server_default="0"),
    Column("spend_micros", Micros, nullable=False, server_default="0"),
    Column("reserved_micros", Micros, nullable=False, server_default="0"),
    Column("outcomes", Text, nullable=False, server_default="{}"),
    Column("dispositions", Text, nullable=False, server_default="{}"),
    Column("last_outcomes", Text, nullable=False, server_default="{}"),
    Column("states", Text, nullable=False, server_default="{}"),
    Column("clock_ms", Moment),
    Column("last_dial_ms", Moment),
    Column("lines", Text, key="channel_free_at", nullable=False, server_default="[]"),
    Column("number_turn", BigInteger, key="caller_id_index", nullable=False, server_default="0"),
    Column("lease_owner", String(40)),
    Column("lease_until", Moment),
    *stored(),
    Column("plan_id", String(200)),
    Column("started_by_key_id", String(40)),
    Column("spend_before_micros", Micros, nullable=False, server_default="0"),
    Column("call_type", String(10), nullable=False, server_default="outbound"),
    Column("inbound", Text),
    Column("settings_changes", BigInteger, nullable=False, server_default="0"),
    Column("settings", Text),
    Column("rules_version", String(40)),
    Column("prices_version", String(40)),
    Column("own_services", String(20)),
    Column("active_since_ms", Moment),
    Column("claimed_at", Moment),
    Column("contact_changes", String(20)),
    Column("contacts_added", BigInteger),
    Column("changed_fields", Text),
    Column("contacts_changed", BigInteger),
    partial_index("ix_deployments_changing", "id", where=text("contact_changes IS NOT NULL")),
    Index("uq_deployments_name", "org_id", "name", unique=True),
    Index("ix_deployments_created", "org_id", "created_at", "id"),
    Index("ix_deployments_second", "org_id", text("(created_at / 1000) DESC"), "name", "id"),
    Index("ix_deployments_live", "status", "lease_until"),
    Index("ix_deployments_audience", "audience_id"),
    Index("ix_deployments_agent", "agent_id"),
    partial_index("ix_deployments_calling", "org_id", where=text("status = 'active' OR in_flight > 0")),
)

"""`active_since_ms` is the deployment's clock when it was last started or resumed: later dials belong to that run.
`claimed_at` is the time of the service at which it last claimed a call.
`contact_changes` says that many contacts are being added, dropped or changed in pieces; while they are added,
`contacts_added` is the position in the audience from which on they are missing. `changed_fields` are those that
contacts have yet to follow, from the position `contacts_changed` on. Contacts that are yet to be dropped stand from
there on too.
"""

deployment_numbers = Table(
    "deployment_numbers",
    metadata,
    Column("deployment_id", String(40), ForeignKey("deployments.id"), primary_key=True),
    Column("phone_number_id", String(40), ForeignKey("phone_numbers.id"), primary_key=True),
    Column("position", Integer, nullable=False),
    Index("ix_deployment_numbers_number", "phone_number_id"),
)

do_not_call = Table(
    "do_not_call",
    metadata,
    key(),
    owner(),
    Column("number", String(20), nullable=False),
    Column("simulated", Boolean, nullable=False),
    Column("reason", String(40), nullable=False),
    Column("source_call_id", String(40)),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),
    Column("note", Text),
    Column("created_by_key_id", String(40)),
    Index("uq_do_not_call_number", "org_id", "simulated", "number", unique=True),
    Index("ix_do_not_call_list", "org_id", "created_at", "id"),
    Index("ix_do_not_call_lists", "org_id", "simulated", "created_at", "id"),
    Index("ix_do_not_call_reasons", "org_id", "reason", "created_at", "id"),
    partial_index("ix_do_not_call_calls", "org_id", "source_call_id", where=text("source_call_id IS NOT NULL")),
)
"""Numbers an organization does not call. Entries of the simulated network and real ones are separate."""

_LONG = "CASE WHEN {0}ended_at - {0}created_at NOT BETWEEN 0 AND 3600000 THEN 1 END = 1"

calls = Table(
    "calls",
    metadata,
    key(),
    owner(),
    Column("call_type", String(10), nullable=False),
    Column("simulated", Boolean, nullable=False),
    Column("deployment_id", String(40)),
    Column("agent_id", String(40), nullable=False),
    Column("audience_id", String(40)),
    Column("contact_id", String(40)),
    Column("contact_name", String(200)),
    Column("name_words", Text),
    Column("external_id", String(1000)),
    Column("phone_number_id", String(40)),
    Column("attempt_number", Integer, nullable=False),
    Column("from_number", String(20), nullable=False),
    Column("to_number", String(20), nullable=False),
    Column("status", String(20), nullable=False),
    Column("outcome", String(30)),
    Column("disposition", String(40)),
    Column("callback_at", Moment),
    Column("answered_by", String(30)),
    Column("ended_by", String(20)),
    Column("hangup_cause", String(40)),
    Column("created_at", Moment, nullable=False),
    Column("started_at", Moment),
    Column("ringing_at", Moment),
    Column("answered_at", Moment),
    Column("ended_at", Moment),
    Column("duration_ms", BigInteger, nullable=False, server_default="0"),
    Column("billed_seconds", Integer, nullable=False, server_default="0"),
    Column("cost_micros", Micros),
    Column("reserved_micros", Micros, nullable=False, server_default="0"),
    Column("turn_count", Integer, nullable=False, server_default="0"),
    Column("language", String(40)),
    Column("voice_id", String(200)),
    Column("unanswered_questions", Text, nullable=False, server_default="[]"),
    Column("variables", Text, nullable=False, server_default="{}"),
    Column("warnings", Text, nullable=False, server_default="[]"),
    Column("hang_up_requested_at", Moment),
    Column("driver", String(40)),
    Column("evidence", EVIDENCE),
    Column("price", Text),
    Column("cost_items", Text),
    Column("carrier", String(40)),
    Column("recorded", Boolean),
    Column("sip_code", Integer),
    Column("answered_by_carrier", String(30)),
    Column("answered_by_words", String(30)),
    Column("latency_p50_ms", Integer),
    Column("latency_p95_ms", Integer),
    Column("agent_version", Integer),
    Column("resolved", Text),
    Column("transfer", Text),
    Column("transferred_at", Moment),
    Column("inbound", Text),
    Column("corrected", Text),
    Index("ix_calls_created", "org_id", "created_at", "id", "name_words"),
    Index("ix_calls_duration", text("(org_id || '')"), "duration_ms", "id"),
    Index("ix_calls_end", text("(org_id || '')"), text("coalesce(ended_at, 0)"), "id"),
    partial_index(
        "ix_calls_long",
        "org_id",
        "ended_at",
        "created_at",
        where=text(_LONG.format("")),
    ),
    Index("uq_calls_contact", "contact_id", "deployment_id", "attempt_number", unique=True),
    partial_index(
        "uq_calls_in_flight",
        *("org_id", "to_number"),
        where=text("ended_at IS NULL AND call_type <> 'inbound'"),
        unique=True,
    ),
    partial_index("ix_calls_coming_in", "org_id", where=text("ended_at IS NULL AND call_type = 'inbound'")),
    Index("ix_calls_deployment", "deployment_id", "created_at", "id"),
    partial_index(
        "ix_calls_version",
        *("agent_id", "agent_version", "created_at", "id"),
        where=text("agent_version IS NOT NULL"),
    ),
    Index("ix_calls_number", "org_id", "to_number", "created_at"),
    Index("ix_calls_from", "phone_number_id", "created_at"),
    partial_index("ix_calls_caller", "org_id", "from_number", where=text("call_type = 'inbound'")),
    partial_index(
        "ix_calls_answered",
        "deployment_id",
        "ended_at",
        where=text("outcome IN ('answered', 'transferred')"),
    ),
    Index("ix_calls_ended", "deployment_id", "ended_at", "created_at", "outcome"),
    partial_index(
        "ix_calls_taken",
        *("deployment_id", "ended_at", "created_at", "outcome"),
        where=text("outcome IN ('answered', 'transferred', 'abandoned')"),
    ),
)

UNDER_WAY: tuple[ColumnElement[bool], ...] = (calls.c.call_type != "inbound", calls.c.call_type == "inbound")
"""Calls under way, without an end, in two parts, because each has its own index."""

LONG: ColumnElement[bool] = literal_column(_LONG.format("calls."))
"""A call that ended more than an hour after it was made, or before, as clocks differ. Few are; they have an index.

Postgres takes an equation for rare, and a comparison of an expression for a third of all rows.
"""

SORTED_OWNER: ColumnElement[str] = literal_column("calls.org_id || ''", String)
"""The owner as the indexes by duration and end have it. They are for statements that name it so: without statistics,
SQLite would take them for whatever is asked of an organization's calls.
"""

deployment_costs = Table(
    "deployment_costs",
    metadata,
    Column("deployment_id", String(40), ForeignKey("deployments.id"), primary_key=True),
    Column("slice_at", Moment, primary_key=True),
    Column("cost_micros", Micros, nullable=False),
)
"""What the calls of a campaign with a daily budget cap cost, by the five minutes of its clock in which they ended."""

simulated_dials = Table(
    "simulated_dials",
    metadata,
    Column("call_id", String(40), primary_key=True),
    Column("deployment_id", String(40), nullable=False),
    Column("contact_id", String(40), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("dialled_at", Moment, nullable=False),
    Column("times", Integer, nullable=False),
    sqlite_with_rowid=False,
)
