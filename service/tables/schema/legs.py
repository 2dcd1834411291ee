"""The table of legs: what a line host places at a carrier. `schema.accounts` says the units."""

from sqlalchemy import Column, Index, Integer, String, Table, Text, text

from callwright.service.platform.database.columns import partial_index
from callwright.service.tables.schema.accounts import Moment, metadata, owner

WAITS_FOR_LINE = text("queue_place > 0")
"""Legs of callers who wait for a line. A literal, so that both databases use the partial index."""
legs = Table(
    "legs",
    metadata,
    Column("call_id", String(40), primary_key=True),
    owner(),
    Column("deployment_id", String(40), nullable=False),
    Column("carrier", String(40), nullable=False),
    Column("state", String(12), nullable=False),
    Column("request", Text, nullable=False),
    Column("provider_call_id", String(200)),
    Column("lease_owner", String(40)),
    Column("lease_until", Moment),
    Column("created_at", Moment, nullable=False),
    Column("placing_at", Moment),
    Column("initiated_at", Moment),
    Column("ringing_at", Moment),
    Column("answered_at", Moment),
    Column("ended_at", Moment),
    Column("hang_up", Text),
    Column("so_far", Text),
    Column("transfer", Text),
    Column("result", Text),
    Column("token_hash", String(64)),
    Column("host_url", String(500)),
    Column("carrier_said", Text),
    Column("person_call", Text),
    Column("queue_place", Integer),
    Index("ix_legs_state", "state", "created_at"),
    Index("ix_legs_lease", "lease_owner", "state"),
    partial_index("ix_legs_waiting", "org_id", where=WAITS_FOR_LINE),
)
"""One row for each call on a carrier's line, from its claim until its end is recorded.

`placing_at` is by the database's clock, like leases; the other moments are by the clock of the host that wrote them.
`so_far` is the result that the call has if its host ends now, `transfer` the latest try to transfer it. `token_hash` is
of the token that opens the leg: the one of a page, or the one in the addresses that a carrier asks. `host_url` is where
the carrier's websocket reaches the host, and `carrier_said` what the carrier has told of the call; `person_call` is the
call to a person who is to take it over. `queue_place` is that of a caller who waits for a line, counted from 1; 0 once
it is their turn. `request`, `so_far`, `person_call` and `result` hold a person's data: the row
is deleted once the call is recorded.
"""
