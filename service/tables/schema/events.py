"""The tables of events, webhook subscriptions, deliveries and attempts."""

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    literal_column,
    text,
)

from callwright.service.platform.database.columns import partial_index
from callwright.service.tables.schema.accounts import Moment, key, metadata, owner, stored
from callwright.service.tables.schema.packed import EVENT_DATA

_NEW = text("fanned_out_at IS NULL")
_PENDING = text("status = 'pending'")
_IF_OF_EVENT = text("(CASE WHEN cause = 'event' THEN 1 END)")
"""Null for replays and tests. Nulls are never equal in a unique index, so there may be any number of them."""
UNARRIVED = text("status IN ('failed', 'missed') AND replayed_at IS NULL")
"""The condition of deliveries that did not arrive and were not replayed."""

OF_EVERY_CALL = frozenset({"call.started", "call.completed"})
"""The events of every call: nearly all that there are."""
_RARE = text("type NOT IN ('call.started', 'call.completed')")
RARE_EVENTS: ColumnElement[bool] = literal_column("outbox.type NOT IN ('call.started', 'call.completed')")
"""The condition of other events, which have an index by type."""

outbox = Table(
    "outbox",
    metadata,
    key(),
    owner(),
    Column("type", String(60), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("data", EVENT_DATA, nullable=False),
    Column("simulated", Boolean, nullable=False),
    Column("subject_id", String(40)),
    Column("fanned_out_at", Moment),
    Index("ix_outbox_created", "org_id", "created_at"),
    Index("ix_outbox_subject", "subject_id", "created_at"),
    partial_index("ix_outbox_new", "id", where=_NEW),
    partial_index("ix_outbox_rare", "org_id", "type", "created_at", "id", where=_RARE),
)
"""Events, kept as a log. `fanned_out_at` is null until there is a delivery for each subscription that wants it.

`created_at` is when it happened, on the simulated network by its clock, which may run ahead of the machine's.
"""

webhooks = Table(
    "webhooks",
    metadata,
    key(),
    owner(),
    *stored(),
    Column("url", String(2048), nullable=False),
    Column("events", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("secret", String(200), nullable=False),
    Column("earlier_secrets", Text, nullable=False, server_default="[]"),
    Column("status", String(20), nullable=False),
    Column("disabled_reason", String(40)),
    Column("disabled_at", Moment),
    Column("enabled_at", Moment, nullable=False),
    Column("consecutive_failures", Integer, nullable=False, server_default="0"),
    Column("last_success_at", Moment),
    Column("last_failure_at", Moment),
    Column("last_response_status", Integer),
    Column("deleted_at", Moment),
    Index("ix_webhooks_created", "org_id", "created_at", "id"),
)
"""Subscriptions. A deleted one stays, so that the log of its deliveries can be read; it is in no list.

`earlier_secrets` is JSON, `[[secret, until_ms], …]`: each signs beside `secret` until its own end.
"""

endpoint_queues = Table(
    "webhook_lanes",
    metadata,
    Column("webhook_id", String(40), ForeignKey("webhooks.id"), primary_key=True),
    Column("due_at", Moment),
    Column("lease_owner", String(40)),
    Column("lease_until", Moment),
    Index("ix_webhook_lanes_due", "due_at"),
)
"""One row for each subscription. Only the process that holds its lease sends to it. `due_at` is in the past, or not
later than the earliest pending delivery; null if there is none.
"""

late_wakes = Table("late_wakes", metadata, key(), Column("webhook_id", String(40), nullable=False))
"""Endpoint queues to be woken later, because others had locked their rows when something became due. Nothing waits for
these locks, whose processes may have frozen.
"""

deliveries = Table(
    "deliveries",
    metadata,
    key(),
    Column("org_id", String(40), nullable=False),
    Column("webhook_id", String(40), nullable=False),
    Column("event_id", String(40), nullable=False),
    Column("event_type", String(60), nullable=False),
    Column("cause", String(10), nullable=False),
    Column("status", String(10), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("attempt_count", Integer, nullable=False, server_default="0"),
    Column("next_attempt_at", Moment),
    Column("attempt_started_at", Moment),
    Column("finished_at", Moment),
    Column("last_outcome", String(30)),
    Column("last_response_status", Integer),
    Column("replayed_at", Moment),
    Index("ix_deliveries_webhook", "webhook_id", "created_at", "id"),
    partial_index("ix_deliveries_pending", "webhook_id", "next_attempt_at", where=_PENDING),
    partial_index("ix_deliveries_unarrived", "webhook_id", "created_at", "id", where=UNARRIVED),
    Index("ix_deliveries_once", "event_id", "webhook_id", _IF_OF_EVENT, unique=True),
    postgresql_with={"fillfactor": 50},
)
"""One event for one subscription; replays and tests make another. `attempt_started_at` is set while an attempt is under
way: on a queue that was just taken over it means that the attempt was interrupted. `replayed_at` is set once a failed
or missed delivery was replayed. There are no foreign keys: rows of organizations and subscriptions are never deleted,
and checking them took as long as the insert.
"""

delivery_attempts = Table(
    "delivery_attempts",
    metadata,
    Column("delivery_id", String(40), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("started_at", Moment, nullable=False),
    Column("duration_ms", Integer, nullable=False),
    Column("outcome", String(30), nullable=False),
    Column("url", String(2048), nullable=False),
    Column("request_headers", Text, nullable=False),
    Column("response_status", Integer),
    Column("response_excerpt", Text, nullable=False),
    Column("detail", Text, nullable=False),
)
"""Every attempt, numbered without gaps."""
